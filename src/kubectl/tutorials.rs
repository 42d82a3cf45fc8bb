//! Sessions as people type them from tutorials: what each line must show.

use super::testing::Terminal;

/// Runs the lines one after the other; what each prints must hold the text beside it.
fn session(lines: &[(&str, &str)]) {
    let mut terminal = Terminal::new();
    terminal.session.namespace = "default".to_string();
    for (line, expected) in lines {
        let told = terminal.run(line);
        assert!(told.contains(expected), "{line}\nprinted\n{told}\nwithout\n{expected}");
    }
}

#[test]
fn the_basics_from_a_first_deployment_to_an_undone_update() {
    session(&[
        (
            "kubectl create deployment kubernetes-bootcamp --image=gcr.io/google-samples/kubernetes-bootcamp:v1",
            "deployment.apps/kubernetes-bootcamp created\n",
        ),
        ("kubectl rollout status deployment/kubernetes-bootcamp", "successfully rolled out"),
        ("kubectl get deployments", "kubernetes-bootcamp   1/1     1            1"),
        ("kubectl proxy &", "Starting to serve on 127.0.0.1:8001\n"),
        ("curl http://localhost:8001/version", "\"gitVersion\": \"v1.36.2\""),
        (
            "export POD_NAME=\"$(kubectl get pods -o go-template --template '{{range .items}}{{.metadata.name}}{{\"\\n\"}}{{end}}')\"",
            "",
        ),
        ("echo Name of the Pod: $POD_NAME", "Name of the Pod: kubernetes-bootcamp-"),
        ("curl http://localhost:8001/api/v1/namespaces/default/pods/$POD_NAME:8080/proxy/", "Hello from"),
        ("kubectl logs \"$POD_NAME\"", "Kubernetes Bootcamp App Started"),
        ("kubectl exec \"$POD_NAME\" -- env", "HOSTNAME=kubernetes-bootcamp-"),
        ("kubectl exec -ti $POD_NAME -- bash", ""),
        ("curl http://localhost:8080", "Hello from"),
        ("exit", ""),
        (
            "kubectl expose deployment/kubernetes-bootcamp --type=\"NodePort\" --port 8080",
            "service/kubernetes-bootcamp exposed",
        ),
        ("kubectl describe services/kubernetes-bootcamp", "NodePort:"),
        (
            "export NODE_PORT=\"$(kubectl get services/kubernetes-bootcamp -o go-template='{{(index .spec.ports 0).nodePort}}')\"",
            "",
        ),
        ("echo \"NODE_PORT=$NODE_PORT\"", "NODE_PORT=3"),
        ("sleep 3; curl http://192.168.0.11:$NODE_PORT", "Hello from"),
        ("kubectl label pods \"$POD_NAME\" version=v1", " labeled"),
        ("kubectl get pods -l version=v1", "1/1     Running"),
        ("kubectl delete service -l app=kubernetes-bootcamp", "service \"kubernetes-bootcamp\" deleted"),
        ("sleep 2; curl http://192.168.0.11:$NODE_PORT", "E|curl: "),
        ("kubectl scale deployments/kubernetes-bootcamp --replicas=4", "scaled"),
        ("kubectl rollout status deployments/kubernetes-bootcamp", "successfully rolled out"),
        ("kubectl get pods -o wide | grep -c Running", "4"),
        (
            "kubectl set image deployments/kubernetes-bootcamp kubernetes-bootcamp=docker.io/jocatalin/kubernetes-bootcamp:v2",
            "image updated",
        ),
        ("kubectl rollout status deployments/kubernetes-bootcamp | tail -1", "successfully rolled out"),
        (
            "kubectl set image deployments/kubernetes-bootcamp kubernetes-bootcamp=gcr.io/google-samples/kubernetes-bootcamp:v10",
            "image updated",
        ),
        ("sleep 20; kubectl get pods", "ImagePull"),
        ("kubectl rollout undo deployments/kubernetes-bootcamp", "rolled back"),
        ("kubectl rollout status deployments/kubernetes-bootcamp | tail -1", "successfully rolled out"),
    ]);
}

#[test]
fn a_guestbook_a_counter_and_a_load() {
    session(&[
        ("kubectl create deployment redis-leader --image=redis:6.0.5", "created"),
        ("kubectl expose deployment redis-leader --port=6379", "exposed"),
        (
            "kubectl create deployment frontend --image=us-docker.pkg.dev/google-samples/containers/gke/gb-frontend:v5 --replicas=3",
            "created",
        ),
        ("kubectl rollout status deployment frontend | tail -1", "successfully rolled out"),
        ("kubectl get pods -l app=frontend", "1/1     Running"),
        ("kubectl expose deployment frontend --port=80", "exposed"),
        ("sleep 3; kubectl port-forward svc/frontend 8080:80 &", "Forwarding from 127.0.0.1:8080 -> 80"),
        ("curl -s -o /dev/null -w '%{http_code}' localhost:8080", "200"),
        ("kubectl scale deployment frontend --replicas=5", "scaled"),
        ("kubectl delete deployment -l app=redis-leader", "deleted"),
        ("kubectl delete service -l app=redis-leader", "deleted"),
        ("kubectl create deployment php-apache --image=registry.k8s.io/hpa-example --port=80", "created"),
        ("kubectl set resources deployment php-apache --requests=cpu=200m --limits=cpu=500m", "updated"),
        ("kubectl expose deployment php-apache --port=80", "exposed"),
        ("kubectl autoscale deployment php-apache --cpu=50% --min=1 --max=10", "autoscaled"),
        ("sleep 60; kubectl get hpa", "php-apache   Deployment/php-apache"),
        ("kubectl create job pi --image=perl:5.34.0 -- perl -Mbignum=bpi -wle 'print bpi(2000)'", "created"),
        ("kubectl describe jobs/pi", "Parallelism:"),
        ("kubectl delete jobs/pi", "deleted"),
    ]);
}

#[test]
fn configuration_and_secrets_reach_files_and_variables() {
    session(&[
        (
            "kubectl create secret generic db-user-pass --from-literal=username=admin --from-literal=password='S!B\\*d$zDsb='",
            "secret/db-user-pass created",
        ),
        ("kubectl get secret db-user-pass -o jsonpath='{.data.password}' | base64 --decode", "S!B\\*d$zDsb="),
        ("kubectl describe secret db-user-pass", "username:  5 bytes"),
        (
            "kubectl create configmap sweets --from-literal=fruit=apple -o yaml --dry-run=client",
            "fruit: apple",
        ),
        ("kubectl create configmap sweets --from-literal=fruit=apple", "configmap/sweets created"),
        (
            "cat <<EOF | kubectl apply -f -\napiVersion: v1\nkind: Pod\nmetadata:\n  name: test\nspec:\n  containers:\n  - name: c\n    image: busybox:1.36\n    command: [sh, -c, 'sleep 3600']\n    envFrom:\n    - configMapRef: {name: sweets}\n    volumeMounts:\n    - {name: v, mountPath: /etc/config}\n  volumes:\n  - name: v\n    configMap: {name: sweets}\nEOF",
            "pod/test created",
        ),
        ("kubectl wait --for=condition=Ready pod/test --timeout=60s", "pod/test condition met"),
        ("kubectl exec test -- env | grep fruit", "fruit=apple"),
        ("kubectl exec test -- cat /etc/config/fruit", "apple"),
        ("kubectl exec -it test -- ls /etc/config", "fruit"),
        ("kubectl get pod test -o json | jq -r '.spec.containers[0].image'", "busybox:1.36\n"),
        (
            "kubectl get pods -A -o json | jq '[.items[] | select(.metadata.namespace == \"kube-system\")] | length'",
            "5",
        ),
        ("kubectl debug test --copy-to=test-debug --image=busybox:1.36 -c dbg -- sleep 60", ""),
        ("kubectl wait --for=condition=Ready pod/test-debug --timeout=60s", "condition met"),
        ("kubectl get pod test-debug -o jsonpath='{.spec.containers[*].name}'", "c dbg"),
        ("echo hello > greeting.txt; kubectl cp greeting.txt test:/tmp/greeting.txt", ""),
        ("kubectl exec test -- cat /tmp/greeting.txt", "hello"),
        ("kubectl cp default/test:/tmp/greeting.txt back.txt && cat back.txt", "hello"),
        ("kubectl delete pod test --now", "pod \"test\" deleted"),
    ]);
}
