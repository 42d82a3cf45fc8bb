//! What a person types and reads, line by line, over a real cluster.

use super::complete::complete;
use super::history_host::HistoryHost;
use super::testing::Terminal;

const WEB: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web}
spec:
  replicas: 2
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: web
        image: nginx:1.27
        ports: [{containerPort: 80}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports:
  - port: 80
";

fn terminal() -> Terminal {
    let mut terminal = Terminal::new();
    terminal.files.insert("web.yaml".to_string(), WEB.to_string());
    terminal
}

/// Runs the lines one after the other; each must print exactly what stands beside it.
fn check(terminal: &mut Terminal, lines: &[(&str, &str)]) {
    for (line, expected) in lines {
        assert_eq!(terminal.run(line), *expected, "{line}");
    }
}

#[test]
fn apply_says_created_then_unchanged_then_configured() {
    let mut terminal = terminal();
    check(
        &mut terminal,
        &[
            ("kubectl apply -f web.yaml", "deployment.apps/web created\nservice/web created\n"),
            ("kubectl apply -f web.yaml", "deployment.apps/web unchanged\nservice/web unchanged\n"),
            (
                "kubectl apply -f missing.yaml",
                "E|error: the path \"missing.yaml\" does not exist\n[exit 1]\n",
            ),
            ("kubectl apply", "E|error: must specify one of -f and -k\n[exit 1]\n"),
        ],
    );
    let changed = WEB.replace("replicas: 2", "replicas: 3");
    terminal.files.insert("web.yaml".to_string(), changed);
    check(&mut terminal, &[("kubectl apply -f web.yaml -o name", "deployment.apps/web\nservice/web\n")]);
    check(&mut terminal, &[("kubectl get deploy web -o jsonpath={.spec.replicas}", "3")]);
}

#[test]
fn a_kind_that_somebody_adds_has_objects_until_its_definition_goes() {
    const DEFINITION: &str = r#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "boats.example.com"}, "spec": {"group": "example.com", "scope": "Namespaced",
        "names": {"kind": "Boat", "plural": "boats", "shortNames": ["bt"]}, "versions": [{"name": "v1", "served": true,
        "storage": true, "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object",
        "properties": {"masts": {"type": "integer", "default": 2}}}}}}, "additionalPrinterColumns": [
        {"name": "Masts", "type": "integer", "jsonPath": ".spec.masts"},
        {"name": "Since", "type": "date", "jsonPath": ".metadata.creationTimestamp", "priority": 1}]}]}}"#;
    const BOAT: &str = "apiVersion: example.com/v1\nkind: Boat\nmetadata: {name: anna}\nspec: {}\n";
    let mut terminal = terminal();
    terminal.files.insert("crd.json".to_string(), DEFINITION.to_string());
    terminal.files.insert("boat.yaml".to_string(), BOAT.to_string());
    terminal.files.insert("bad.yaml".to_string(), BOAT.replace("anna", "otto").replace("{}", "{sails: 3}"));
    check(
        &mut terminal,
        &[
            (
                "kubectl apply -f boat.yaml",
                "E|error: resource mapping not found for name: \"anna\" namespace: \"\" from \"boat.yaml\": no matches for kind \"Boat\" in version \"example.com/v1\"\nE|ensure CRDs are installed first\n[exit 1]\n",
            ),
            (
                "kubectl apply -f crd.json",
                "customresourcedefinition.apiextensions.k8s.io/boats.example.com created\n",
            ),
            ("kubectl apply -f boat.yaml", "boat.example.com/anna created\n"),
            ("kubectl apply -f boat.yaml", "boat.example.com/anna unchanged\n"),
            ("kubectl get bt anna -o jsonpath={.spec.masts}/{.metadata.generation}", "2/1"),
            (
                "kubectl apply -f bad.yaml",
                "E|Error from server (BadRequest): error when creating \"bad.yaml\": Boat in version \"v1\" cannot be handled as a Boat: strict decoding error: unknown field \"spec.sails\"\n[exit 1]\n",
            ),
            ("kubectl get boats", "NAME   MASTS\nanna   2\n"),
            ("kubectl get boats -o wide", "NAME   MASTS   SINCE\nanna   2       0s\n"),
            (
                "kubectl delete crd boats.example.com",
                "customresourcedefinition.apiextensions.k8s.io \"boats.example.com\" deleted\n",
            ),
            ("kubectl get boats", "E|error: the server doesn't have a resource type \"boats\"\n[exit 1]\n"),
        ],
    );
}

#[test]
fn apply_of_a_created_object_warns_once() {
    let mut terminal = terminal();
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {a: \"1\"}\n";
    terminal.files.insert("m.yaml".to_string(), map.to_string());
    check(
        &mut terminal,
        &[
            ("kubectl create -f m.yaml", "configmap/m created\n"),
            (
                "kubectl apply -f m.yaml",
                "configmap/m configured\nE|Warning: resource configmaps/m is missing the kubectl.kubernetes.io/last-applied-configuration annotation which is required by kubectl apply. kubectl apply should only be used on resources created declaratively by either kubectl create --save-config or kubectl apply. The missing annotation will be patched automatically.\n",
            ),
            ("kubectl apply -f m.yaml", "configmap/m unchanged\n"),
        ],
    );
}

#[test]
fn get_says_what_is_there_and_what_is_not() {
    check(
        &mut terminal(),
        &[
            ("kubectl get pods", "E|No resources found in demo namespace.\n"),
            ("kubectl get all", "E|No resources found in demo namespace.\n"),
            ("kubectl get pod heron", "E|Error from server (NotFound): pods \"heron\" not found\n[exit 1]\n"),
            (
                "kubectl get pod heron -n nowhere",
                "E|Error from server (NotFound): namespaces \"nowhere\" not found\n[exit 1]\n",
            ),
            ("kubectl get boats", "E|error: the server doesn't have a resource type \"boats\"\n[exit 1]\n"),
            (
                "kubectl get pods heron -l a=b",
                "E|error: name cannot be provided when a selector is specified\n[exit 1]\n",
            ),
            ("kubectl get nodes -o name", "node/node-1\nnode/node-2\nnode/node-3\n"),
            ("kubectl get nodes -o name | grep -v 2 | wc -l", "2\n"),
            ("kubectl get pods -o jsonpath={.items}", "[]"),
            ("kubectl create -f web.yaml", "deployment.apps/web created\nservice/web created\n"),
        ],
    );
}

#[test]
fn a_wide_table_has_all_columns_and_labels_come_last() {
    let mut terminal = terminal();
    terminal.run("kubectl apply -f web.yaml");
    check(
        &mut terminal,
        &[
            (
                "kubectl get deploy -o wide --show-labels",
                "NAME   READY   UP-TO-DATE   AVAILABLE   AGE   CONTAINERS   IMAGES       SELECTOR   LABELS\nweb    0/2     0            0           0s    web          nginx:1.27   app=web    app=web\n",
            ),
            ("kubectl get deploy -L app,tier --no-headers", "web   0/2   0     0     0s    web   \n"),
            (
                "kubectl get deploy -o custom-columns=NAME:.metadata.name,IMAGE:.spec.template.spec.containers[*].image",
                "NAME   IMAGE\nweb    nginx:1.27\n",
            ),
        ],
    );
}

#[test]
fn deleting_prints_at_once_and_waits_until_it_is_gone() {
    let mut terminal = terminal();
    terminal.run("kubectl apply -f web.yaml");
    terminal.run("kubectl rollout status deploy/web");
    let before = terminal.run("kubectl get pods -o name");
    let first = before.lines().next().unwrap().trim_start_matches("pod/").to_string();
    check(
        &mut terminal,
        &[(
            format!("kubectl delete pod {first} && kubectl get pod {first}").as_str(),
            format!(
                "pod \"{first}\" deleted from demo namespace\nE|Error from server (NotFound): pods \"{first}\" not found\n[exit 1]\n"
            )
            .as_str(),
        )],
    );
    check(
        &mut terminal,
        &[
            (
                "kubectl delete deploy nope",
                "E|Error from server (NotFound): deployments.apps \"nope\" not found\n[exit 1]\n",
            ),
            (
                "kubectl delete deploy web --cascade=sideways",
                "E|error: invalid cascade value (sideways). Must be \"background\", \"foreground\", or \"orphan\"\n[exit 1]\n",
            ),
            (
                "kubectl delete svc web --dry-run=client",
                "service \"web\" deleted from demo namespace (dry run)\n",
            ),
            ("kubectl delete svc --all", "service \"web\" deleted from demo namespace\n"),
            ("kubectl delete svc --all", "No resources found\n"),
            (
                "kubectl delete pods",
                "E|error: resource(s) were provided, but no name was specified\n[exit 1]\n",
            ),
        ],
    );
}

#[test]
fn a_rollout_is_followed_to_its_end() {
    let mut terminal = terminal();
    terminal.run("kubectl apply -f web.yaml");
    let told = terminal.run("kubectl rollout status deployment/web");
    assert!(told.ends_with("deployment \"web\" successfully rolled out\n"), "{told}");
    check(
        &mut terminal,
        &[
            ("kubectl set image deploy/web web=nginx:1.28", "deployment.apps/web image updated\n"),
            ("kubectl set image deploy/web web=nginx:1.28", ""),
            (
                "kubectl set image deploy/web oven=nginx:1.28",
                "E|error: unable to find container named \"oven\"\n[exit 1]\n",
            ),
        ],
    );
    let told = terminal.run("kubectl rollout status deployment/web | tail -1");
    assert_eq!(told, "deployment \"web\" successfully rolled out\n");
    check(
        &mut terminal,
        &[
            (
                "kubectl rollout history deploy/web",
                "deployment.apps/web \nREVISION  CHANGE-CAUSE\n1         <none>\n2         <none>\n\n",
            ),
            ("kubectl rollout undo deploy/web --to-revision=9 2>&1 | grep -c unable", "1\n"),
            ("kubectl scale deploy web --replicas=1", "deployment.apps/web scaled\n"),
            (
                "kubectl scale deploy web --replicas=2 --current-replicas=9",
                "E|error: Expected replicas to be 9, was 1\n[exit 1]\n",
            ),
        ],
    );
}

#[test]
fn a_timeout_ends_the_waiting() {
    let mut terminal = terminal();
    terminal.run("kubectl create deployment slow --image=registry.example/missing:1");
    let told = terminal.run("kubectl rollout status deploy/slow --timeout=5s");
    assert!(told.ends_with("E|error: timed out waiting for the condition\n[exit 1]\n"), "{told}");
}

#[test]
fn labels_are_set_changed_and_removed() {
    check(
        &mut terminal(),
        &[
            ("kubectl create cm m --from-literal=a=1", "configmap/m created\n"),
            ("kubectl label cm m tier=front", "configmap/m labeled\n"),
            (
                "kubectl label cm m tier=back",
                "E|error: 'tier' already has a value (front), and --overwrite is false\n[exit 1]\n",
            ),
            ("kubectl label cm m tier=back --overwrite", "configmap/m labeled\n"),
            ("kubectl label cm m tier-", "configmap/m unlabeled\n"),
            ("kubectl label cm m tier-", "label \"tier\" not found.\nconfigmap/m not labeled\n"),
            ("kubectl annotate cm m note=hello", "configmap/m annotated\n"),
            ("kubectl patch cm m -p '{\"data\":{\"b\":\"2\"}}'", "configmap/m patched\n"),
            ("kubectl get cm m -o jsonpath={.data}", "{\"a\":\"1\",\"b\":\"2\"}"),
        ],
    );
}

#[test]
fn the_namespace_of_the_context_can_be_changed() {
    check(
        &mut terminal(),
        &[
            ("kubectl config set-context --current --namespace=other", "Context \"kubestep\" modified.\n"),
            ("kubectl get pods", "E|No resources found in other namespace.\n"),
            ("kubectl -n demo get pods", "E|No resources found in demo namespace.\n"),
            ("kubectl config view --minify -o jsonpath='{..namespace}'", "other"),
        ],
    );
}

#[test]
fn what_is_not_here_yet_says_so() {
    check(
        &mut terminal(),
        &[
            ("kubectl get csidrivers", "E|No resources found\n"),
            (
                "kubectl get csidriver x",
                "E|Error from server (NotFound): csidrivers.storage.k8s.io \"x\" not found\n[exit 1]\n",
            ),
            ("helm ls", "E|helm: command not found: apply manifests instead\n[exit 127]\n"),
            ("kubctl get pods", "E|kubctl: command not found\n[exit 127]\n"),
        ],
    );
}

#[test]
fn here_documents_reach_the_command() {
    check(
        &mut terminal(),
        &[(
            "cat <<EOF | kubectl apply -f -\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\nEOF\nkubectl get cm m -o name",
            "configmap/m created\nconfigmap/m\n",
        )],
    );
}

#[test]
fn tab_offers_what_may_stand_at_the_cursor() {
    let mut terminal = terminal();
    terminal.run("kubectl apply -f web.yaml");
    let session = terminal.session.clone();
    let host = HistoryHost::new(&mut terminal.history, &terminal.files);
    for (line, expected) in [
        ("kub", "kubectl"),
        ("kubectl ge", "get"),
        ("kubectl rollout s", "status"),
        ("kubectl get deploym", "deployments"),
        ("kubectl get deploy w", "web"),
        ("kubectl describe deploy/w", "deploy/web"),
        ("kubectl get pods -n de", "default demo"),
        ("kubectl get pods --namespace=dem", "demo"),
        ("kubectl apply -f w", "web.yaml"),
        ("kubectl get pods -o w", "wide"),
        ("kubectl set image deploy/web w", "web="),
        ("kubectl get svc | gr", "grep"),
        ("kubectl drai", "drain"),
        ("kubectl get pods --show-l", "--show-labels"),
    ] {
        let completion = complete(line, line.len(), &session, &host);
        let texts: Vec<&str> =
            completion.candidates.iter().map(|candidate| candidate.text.as_str()).collect();
        assert_eq!(texts.join(" "), expected, "{line}");
        assert_eq!(completion.to, line.len(), "{line}");
    }
    let completion = complete("kubectl get pods --namespace=d", 30, &session, &host);
    assert_eq!((completion.from, completion.common()), (29, "de"));
}

/// The commands that the teaching points name, word for word: what each must show.
#[test]
fn every_command_of_the_teaching_points_works_word_for_word() {
    let mut terminal = terminal();
    assert_eq!(
        terminal.run("kubectl apply -f web.yaml"),
        "deployment.apps/web created\nservice/web created\n"
    );
    let finished = terminal.run("kubectl rollout status deployment/web");
    assert!(finished.ends_with("deployment \"web\" successfully rolled out\n"), "{finished}");
    terminal.run("kubectl run crash --image=busybox:1.36 -- sh -c 'echo working; exit 3'");
    terminal.run("kubectl wait --for=jsonpath='{.status.containerStatuses[0].restartCount}'=1 pod/crash");
    let name = terminal.run("kubectl get pods -l app=web -o jsonpath='{.items[0].metadata.name}'");
    for (line, shows) in [
        ("kubectl -n demo get pods -o wide".to_string(), "NOMINATED NODE"),
        ("kubectl get deployment web".to_string(), "READY   UP-TO-DATE   AVAILABLE"),
        ("kubectl get pods -l app=web -o wide".to_string(), "1/1     Running"),
        ("kubectl describe deployment web".to_string(), "NewReplicaSet:   web-"),
        (format!("kubectl describe pod {name}"), "Successfully assigned demo/web-"),
        (format!("kubectl logs {name}"), "start worker processes"),
        ("kubectl logs crash".to_string(), "working"),
        ("kubectl logs --previous crash".to_string(), "working"),
        ("kubectl get service web".to_string(), "ClusterIP"),
        ("kubectl get endpointslice -l kubernetes.io/service-name=web".to_string(), "IPv4"),
        ("kubectl rollout status deployment/web".to_string(), "successfully rolled out"),
        ("kubectl get deployment".to_string(), "web    "),
        ("kubectl apply -f web.yaml".to_string(), "deployment.apps/web unchanged"),
    ] {
        let shown = terminal.run(&line);
        assert!(shown.contains(shows) && !shown.contains("[exit"), "{line}\n{shown}");
    }
    let none = terminal.run(&format!("kubectl logs --previous {name}"));
    assert!(none.contains("previous terminated container"), "{none}");
}

#[test]
fn a_port_is_forwarded_and_a_container_is_looked_into() {
    let mut terminal = terminal();
    terminal.run("kubectl apply -f web.yaml");
    terminal.run("kubectl rollout status deployment/web");
    for (line, shows) in [
        ("kubectl port-forward service/web 8080:80 &", "Forwarding from 127.0.0.1:8080 -> "),
        ("curl -s localhost:8080", "Welcome to nginx!"),
        ("curl -s localhost:8081", "[exit 7]"),
        ("kubectl exec deploy/web -- curl -s web", "Welcome to nginx!"),
        ("kubectl exec deploy/web -- nslookup web", "web.demo.svc.cluster.local"),
        ("kubectl exec deploy/web -- nosuch", "executable file not found in $PATH"),
        ("kubectl top pods", "CPU(cores)   MEMORY(bytes)"),
        ("kubectl events --for deployment/web", "ScalingReplicaSet"),
    ] {
        let shown = terminal.run(line);
        assert!(shown.contains(shows), "{line}\n{shown}");
    }
}

#[test]
fn lines_as_tutorials_write_them_work() {
    check(
        &mut terminal(),
        &[
            (
                "export NAME=settings; kubectl create configmap $NAME --from-literal=a=1",
                "configmap/settings created\n",
            ),
            ("echo \"$(kubectl get cm settings -o name) is there\"", "configmap/settings is there\n"),
            ("kubectl get cm -o name | grep settings | cut -d/ -f2", "settings\n"),
            ("kubectl get cm settings --no-headers | awk '{print $1}'", "settings\n"),
            ("echo a-b | sed 's/-/_/'", "a_b\n"),
            (
                "kubectl get cm settings -o name | xargs kubectl delete",
                "configmap \"settings\" deleted from demo namespace\n",
            ),
            ("kubectl get ns demo -o go-template --template '{{.metadata.name}}{{\"\\n\"}}'", "demo\n"),
            ("false; echo $?", "1\n"),
            ("sleep 3 && echo done", "done\n"),
            ("kubectl get pods &", "E|No resources found in demo namespace.\n"),
        ],
    );
}

#[test]
fn a_developer_may_what_his_roles_say() {
    check(
        &mut terminal(),
        &[
            (
                "kubectl --context developer get nodes",
                "E|Error from server (Forbidden): nodes is forbidden: User \"developer\" cannot list resource \"nodes\" in API group \"\" at the cluster scope\n[exit 1]\n",
            ),
            ("kubectl --context developer auth can-i create deployments -n default", "yes\n"),
            (
                "kubectl auth can-i delete nodes --as=developer",
                "no\nE|Warning: resource 'nodes' is not namespace scoped\nE|\n[exit 1]\n",
            ),
            (
                "kubectl --context developer create ns x --as=admin",
                "E|Error from server (Forbidden): users \"admin\" is forbidden: User \"developer\" cannot impersonate resource \"users\" in API group \"\" at the cluster scope\n[exit 1]\n",
            ),
        ],
    );
}

#[test]
fn an_ingress_without_a_class_gets_the_default_one() {
    check(
        &mut terminal(),
        &[
            (
                "kubectl annotate ingressclass nginx ingressclass.kubernetes.io/is-default-class=true",
                "ingressclass.networking.k8s.io/nginx annotated\n",
            ),
            (
                "kubectl create ingress plain --rule=a.example/*=web:80",
                "ingress.networking.k8s.io/plain created\n",
            ),
            ("kubectl get ingress plain -o jsonpath={.spec.ingressClassName}", "nginx"),
        ],
    );
}

#[test]
fn output_goes_to_files_and_comes_back_from_them() {
    let mut terminal = terminal();
    check(
        &mut terminal,
        &[
            ("kubectl create namespace shop --dry-run=client -o yaml > ns.yaml", ""),
            (
                "cat ns.yaml",
                "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\nspec: {}\nstatus: {}\n",
            ),
            ("kubectl apply -f ns.yaml", "namespace/shop created\n"),
            ("echo a > notes; echo b >> notes; cat notes | tee copy", "a\nb\n"),
            ("ls", "copy\nnotes\nns.yaml\nweb.yaml\n"),
            ("kubectl get pod nope 2>/dev/null || echo failed", "failed\n"),
            ("kubectl get pod nope > /dev/null 2>&1 || echo failed", "failed\n"),
            ("kubectl get pod nope 2>&1 | grep -c NotFound", "1\n"),
            ("cat > cm.yaml <<EOF\nkind: ConfigMap\nEOF", ""),
            ("wc -l < cm.yaml", "1\n"),
        ],
    );
}

#[test]
fn variables_are_filled_into_here_documents_unless_their_end_is_quoted() {
    let mut terminal = terminal();
    check(
        &mut terminal,
        &[
            ("NAME=$(echo two words); echo \"$NAME\"", "two words\n"),
            ("IMAGE=nginx:1.27", ""),
            (
                "cat <<EOF\nimage: $IMAGE of ${NAME}, \\$HOME, $(echo now)\nEOF",
                "image: nginx:1.27 of two words, $HOME, now\n",
            ),
            ("cat <<'EOF'\nimage: $IMAGE\nEOF", "image: $IMAGE\n"),
            (
                "cat <<EOF | kubectl apply -f -\napiVersion: v1\nkind: Pod\nmetadata: {name: filled}\nspec:\n  containers: [{name: c, image: $IMAGE}]\nEOF",
                "pod/filled created\n",
            ),
            ("kubectl get pod filled -o jsonpath='{.spec.containers[0].image}'", "nginx:1.27"),
        ],
    );
}

#[test]
fn faults_are_typed_and_a_stopped_server_refuses_connections() {
    let mut terminal = terminal();
    let refused = "E|The connection to the server kubestep.example:6443 was refused - did you specify the right host or port?\n[exit 1]\n";
    check(
        &mut terminal,
        &[
            ("fault", "nothing is broken\n"),
            ("fault stop kubelet node-2", ""),
            ("fault stop api-server", ""),
            ("fault power-off node-1", ""),
            ("fault", "stopped apiserver\nstopped kubelet/node-2\nwithout power node-1\n"),
            ("kubectl get pods", refused),
            ("kubectl config current-context", "kubestep\n"),
            ("fault start api-server; fault start kubelet node-2; fault power-on node-1", ""),
            ("fault", "nothing is broken\n"),
            ("kubectl get pods", "E|No resources found in demo namespace.\n"),
            (
                "fault stop kubelet node-9",
                "E|fault: there is no component kubelet node-9\nE|usage: fault stop|start COMPONENT [NODE], fault stop|start etcd [MEMBER], fault stop|start registry,\nE|fault power-off|power-on|cut|join|fill-disk|free-disk|fill-memory|free-memory NODE, fault kill POD,\nE|fault app crash|hang|slow|unready|leak|stop|heal NAME, fault dns HOST ADDRESS|none, fault lag COMPONENT [NODE] TICKS,\nE|fault backup|restore, fault explain [FAULT]\nE|components: api-server, scheduler, controller-manager, kubelet NODE, kube-proxy NODE, coredns, ingress-controller, and\nE|each controller by its name\n[exit 1]\n",
            ),
        ],
    );
}

#[test]
fn a_pod_of_one_command_shows_its_output_and_leaves_nothing_behind() {
    let mut terminal = terminal();
    check(
        &mut terminal,
        &[
            (
                "kubectl run once -i --rm --restart=Never --image=busybox -- echo hello",
                "hello\npod \"once\" deleted from demo namespace\n",
            ),
            (
                "kubectl run twice --attach --restart=Never --image=busybox -- sh -c 'echo no; exit 3'",
                "no\nE|pod demo/twice terminated (Error)\n[exit 3]\n",
            ),
            (
                "kubectl run x --rm --image=busybox",
                "E|error: --rm should only be used for attached containers\nE|See 'kubectl run -h' for help and examples\n[exit 1]\n",
            ),
        ],
    );
}

#[test]
fn a_shell_in_a_container_takes_lines_until_it_is_left() {
    let mut terminal = terminal();
    terminal.run("kubectl apply -f web.yaml");
    terminal.run("kubectl rollout status deploy/web");
    let entered = terminal.run("kubectl run -it --rm tmp --image=busybox -- sh");
    assert!(entered.ends_with("E|If you don't see a command prompt, try pressing enter.\n"), "{entered}");
    let page = terminal.run("wget -qO- http://web");
    assert!(page.starts_with("Welcome to nginx!"), "{page}");
    check(
        &mut terminal,
        &[
            ("echo $((1 + 1))", "2\n"),
            ("exit", "pod \"tmp\" deleted from demo namespace\n"),
            ("kubectl exec -it deploy/web -- sh", ""),
            ("echo inside", "inside\n"),
            ("exit", ""),
            ("echo outside", "outside\n"),
        ],
    );
}

#[test]
fn requests_are_told_from_level_6_on_and_tokens_have_three_parts() {
    let mut terminal = terminal();
    terminal.run("sleep 3");
    let told = terminal.run("kubectl get pods -l app=web -v=6");
    assert!(told.contains("\"Response\" verb=\"GET\" url=\"https://kubestep.example:6443/api/v1/namespaces/demo/pods?labelSelector=app%3Dweb&limit=500\" status=\"200 OK\""), "{told}");
    let told = terminal.run("kubectl delete pod nope -v6");
    assert!(told.contains("/api/v1/namespaces/demo/pods/nope\" status=\"404 Not Found\""), "{told}");
    check(
        &mut terminal,
        &[
            ("kubectl create token default | tr '.' '\\n' | wc -l", "3\n"),
            (
                "kubectl create token nope",
                "E|error: failed to create token: serviceaccounts \"nope\" not found\n[exit 1]\n",
            ),
        ],
    );
}

/// The commands of the list of what a learner types, each as it stands there, but for the names.
#[test]
fn every_command_a_learner_is_taught_works_word_for_word() {
    let mut terminal = terminal();
    terminal.run("kubectl apply -f web.yaml");
    terminal.run("kubectl rollout status deployment/web");
    let pod = terminal.run("kubectl get pods -l app=web -o jsonpath='{.items[0].metadata.name}'");
    let node = terminal.run(&format!("kubectl get pod {pod} -o jsonpath='{{.spec.nodeName}}'"));
    for (line, shows) in [
        ("kubectl -n demo get pods -o wide", node.as_str()),
        ("kubectl get deployment web", "web    2/2     2            2"),
        ("kubectl get pods -l app=web -o wide", &pod),
        (
            "kubectl describe deployment web",
            "Replicas:               2 desired | 2 updated | 2 total | 2 available | 0 unavailable",
        ),
        ("kubectl describe pod NAME", "Normal  Started"),
        ("kubectl logs NAME", "start worker processes"),
        ("kubectl get service web", "ClusterIP"),
        ("kubectl get endpointslice -l kubernetes.io/service-name=web", "IPv4          80"),
        ("kubectl rollout status deployment/web", "deployment \"web\" successfully rolled out"),
        ("kubectl get deployment", "NAME   READY   UP-TO-DATE   AVAILABLE   AGE"),
        ("kubectl apply -f FILE", "deployment.apps/web unchanged"),
    ] {
        let line = line.replace("NAME", &pod).replace("FILE", "web.yaml");
        let told = terminal.run(&line);
        assert!(told.contains(shows) && !told.contains("[exit"), "{line}\n{told}");
    }
    let refused = terminal.run(&format!("kubectl logs --previous {pod}"));
    assert!(refused.contains("previous terminated container \"web\" in pod"), "{refused}");
    terminal.run("kubectl create deployment crash --image=busybox -- sh -c 'echo last words; exit 1'");
    terminal.run("sleep 30");
    let told = terminal.run("kubectl logs --previous $(kubectl get pods -l app=crash -o name)");
    assert!(told.contains("last words"), "{told}");
}

#[test]
fn loops_and_choices_run_as_in_a_shell() {
    let mut terminal = terminal();
    check(
        &mut terminal,
        &[
            ("for i in 0 1; do echo web-$i; done", "web-0\nweb-1\n"),
            (
                "for n in a b; do kubectl create ns $n; done && echo both",
                "namespace/a created\nnamespace/b created\nboth\n",
            ),
            (
                "for n in $(kubectl get ns a b -o name)\ndo\n  for i in 1 2; do echo $n $i; done\ndone",
                "namespace/a 1\nnamespace/a 2\nnamespace/b 1\nnamespace/b 2\n",
            ),
            ("if kubectl get ns a -o name; then echo yes; else echo no; fi", "namespace/a\nyes\n"),
            (
                "x=2; if [ $x -eq 1 ]; then echo one; elif [ $x -eq 2 ]; then echo two; else echo more; fi",
                "two\n",
            ),
            ("for i in 1 2 3; do if [ $i = 2 ]; then continue; fi; echo $i; done", "1\n3\n"),
            ("for i in $(seq 5); do if test $i -gt 2; then break; fi; echo $i; done; echo $i", "1\n2\n3\n"),
            ("while false; do echo never; done; until true; do echo never; done; echo $?", "0\n"),
            (
                "while true; do echo; done | wc -l",
                "E|kubestep: what stands behind done is not known: end the line there\n[exit 2]\n",
            ),
            (
                "for i in 1; do echo $i",
                "E|kubestep: syntax error near unexpected token `end of file'\n[exit 2]\n",
            ),
            ("done", "E|kubestep: syntax error near unexpected token `done'\n[exit 2]\n"),
            ("kubectl get ns a --template '{{.metadata.name}}'; echo", "a\n"),
        ],
    );
    let endless = terminal.run("while true; do x=1; done");
    assert!(endless.contains("let time pass with sleep"), "{endless}");
}

#[test]
fn a_container_keeps_the_variables_that_it_was_started_with() {
    let mut terminal = terminal();
    terminal.run("kubectl create configmap settings --from-literal=COLOR=blue");
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: app}\nspec:\n  containers:\n  - name: app\n    image: nginx\n    envFrom: [{configMapRef: {name: settings}}]\n";
    terminal.files.insert("app.yaml".to_string(), pod.to_string());
    terminal.run("kubectl apply -f app.yaml");
    terminal.run("kubectl wait --for=condition=Ready pod/app");
    check(
        &mut terminal,
        &[
            (
                "kubectl create configmap settings --from-literal=COLOR=red -o yaml --dry-run=client | kubectl replace -f -",
                "configmap/settings replaced\n",
            ),
            ("kubectl expose pod app --port 80 --name late --selector app=app", "service/late exposed\n"),
            ("kubectl exec app -- sh -c 'echo $COLOR $LATE_SERVICE_PORT'", "blue \n"),
            (
                "kubectl replace --force -f app.yaml",
                "pod \"app\" deleted from demo namespace\npod/app replaced\n",
            ),
        ],
    );
    terminal.run("kubectl wait --for=condition=Ready pod/app");
    check(&mut terminal, &[("kubectl exec app -- sh -c 'echo $COLOR $LATE_SERVICE_PORT'", "red 80\n")]);
}

#[test]
fn a_shell_beside_a_process_says_which_command_it_does_not_find() {
    let mut terminal = terminal();
    terminal.run("kubectl run tmp --image=busybox:1.28 -- sleep 1000");
    terminal.run("kubectl wait --for=condition=Ready pod/tmp");
    check(
        &mut terminal,
        &[(
            "kubectl exec tmp -- sh -c 'kubectl get pods'",
            "E|sh: kubectl: not found\nE|command terminated with exit code 127\n[exit 127]\n",
        )],
    );
}
