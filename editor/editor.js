// The manifest editor: CodeMirror 6 behind a handful of calls. Rust loads this file on demand (src/ui/editor_chunk.rs).
//
// Lines and columns count from 1; columns count characters (code points), as Rust does.
// Colours come from CSS variables only, so that a theme needs no word from here. See `look` for their names.

import { EditorState, Compartment, StateField, StateEffect, RangeSet, Transaction, Prec } from "@codemirror/state";
import {
  EditorView, Decoration, WidgetType, GutterMarker, keymap, lineNumbers, gutterLineClass, highlightActiveLine,
  highlightActiveLineGutter, drawSelection, hoverTooltip,
} from "@codemirror/view";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { HighlightStyle, syntaxHighlighting, indentUnit, bracketMatching, foldGutter, foldKeymap } from "@codemirror/language";
import { autocompletion, completionKeymap, acceptCompletion, closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { yaml } from "@codemirror/lang-yaml";
import { tags } from "@lezer/highlight";

const look = {
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--surface)", fontSize: "var(--size-2)" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--font-code)", lineHeight: "1.6", overflow: "auto", containerType: "inline-size" },
  ".cm-content": { caretColor: "var(--text)", padding: "var(--space-2) 0" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    { backgroundColor: "var(--accent-soft)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--editor-line, transparent)" },
  ".cm-gutters": { color: "var(--text-quiet)", backgroundColor: "var(--surface)", border: "0" },
  ".cm-activeLineGutter": { color: "var(--text)" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "2.5em", padding: "0 var(--space-2) 0 var(--space-1)" },
  ".cm-gutterElement.is-error": { color: "var(--failed)", fontWeight: "700" },
  ".cm-gutterElement.is-warning": { color: "var(--waiting)", fontWeight: "700" },
  ".cm-foldGutter .cm-gutterElement": { cursor: "pointer" },
  ".cm-foldPlaceholder": { color: "var(--text-quiet)", backgroundColor: "var(--sunken)", border: "0", padding: "0 var(--space-1)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "var(--sunken)", outline: "1px solid var(--line)" },
  ".cm-mark": { textDecoration: "underline wavy", textDecorationSkipInk: "none", textUnderlineOffset: "4px" },
  ".cm-mark.is-error": { textDecorationColor: "var(--failed)" },
  ".cm-mark.is-warning": { textDecorationColor: "var(--waiting)" },
  ".cm-note": {
    margin: "2px var(--space-3) var(--space-1)", padding: "var(--space-1) var(--space-2)", borderLeft: "3px solid",
    borderRadius: "0 var(--radius-1) var(--radius-1) 0", font: "var(--size-1)/1.4 var(--font-text)", whiteSpace: "normal",
    overflowWrap: "anywhere",
    // As wide as what can be seen, not as the longest line.
    position: "sticky", left: "calc(3.5em + var(--space-3))", boxSizing: "border-box", maxWidth: "calc(100cqi - 3.5em - 2 * var(--space-3))",
  },
  ".cm-note.is-error": { borderLeftColor: "var(--failed)", backgroundColor: "var(--failed-soft)" },
  ".cm-note.is-warning": { borderLeftColor: "var(--waiting)", backgroundColor: "var(--waiting-soft)" },
  ".cm-tooltip": {
    color: "var(--text)", backgroundColor: "var(--surface)", border: "1px solid var(--line)", borderRadius: "var(--radius-1)",
    boxShadow: "var(--shadow)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--font-code)", fontSize: "var(--size-1)", maxHeight: "16em" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": { color: "var(--on-accent)", backgroundColor: "var(--accent)" },
  ".cm-completionDetail": { fontStyle: "normal", opacity: "1" },
  ".cm-completionInfo, .cm-hover": { maxWidth: "36em", padding: "var(--space-2) var(--space-3)", font: "var(--size-1)/1.45 var(--font-text)", whiteSpace: "pre-wrap" },
  ".cm-hover b": { display: "block", fontFamily: "var(--font-code)" },
};

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--editor-key, var(--accent))" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--editor-text, var(--done))" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--editor-number, var(--violet))" },
  { tag: [tags.comment], color: "var(--text-quiet)", fontStyle: "italic" },
  { tag: [tags.keyword, tags.meta, tags.typeName, tags.labelName], color: "var(--editor-meta, var(--violet))" },
  { tag: [tags.punctuation, tags.separator, tags.bracket], color: "var(--text-quiet)" },
]);

// --- What is wrong, at its line -------------------------------------------------------------------------------------

const setNotes = StateEffect.define();
let notes_made = 0;

class Note extends WidgetType {
  constructor(message, severity) {
    super();
    this.message = message;
    this.severity = severity;
  }
  eq(other) { return other.message === this.message && other.severity === this.severity; }
  toDOM() {
    const note = document.createElement("div");
    note.className = `cm-note is-${this.severity}`;
    note.id = `cm-note-${++notes_made}`;
    note.setAttribute("role", "note");
    note.textContent = this.message;
    return note;
  }
  ignoreEvent() { return false; }
}

class LineClass extends GutterMarker {
  constructor(severity) {
    super();
    this.elementClass = `is-${severity}`;
  }
}
const line_classes = { error: new LineClass("error"), warning: new LineClass("warning") };
const severity_of = (diagnostic) => (diagnostic.severity === "warning" ? "warning" : "error");

// The offset of a column that counts code points, within a line's text.
function offset_of(text, column) {
  let offset = 0;
  for (let at = 1; at < column && offset < text.length; at++) offset += text.codePointAt(offset) > 0xffff ? 2 : 1;
  return offset;
}

// The inverse: the column of an offset.
const column_of = (text, offset) => [...text.slice(0, offset)].length + 1;

function notes_of(state, diagnostics) {
  const marks = [], gutter = [];
  const worst = new Map();
  for (const diagnostic of diagnostics) {
    const severity = severity_of(diagnostic);
    const line = state.doc.line(Math.min(Math.max(1, diagnostic.line | 0), state.doc.lines));
    // Without columns, the words of the line are marked.
    let from = line.from + (diagnostic.column ? offset_of(line.text, diagnostic.column) : line.text.search(/\S|$/));
    let to = line.from + (diagnostic.endColumn ? offset_of(line.text, diagnostic.endColumn) : line.text.trimEnd().length);
    if (to <= from) { from = line.from; to = line.to; }
    if (to > from) marks.push(Decoration.mark({ class: `cm-mark is-${severity}` }).range(from, to));
    marks.push(Decoration.widget({ widget: new Note(String(diagnostic.message), severity), block: true, side: 1 }).range(line.to));
    if (worst.get(line.from) !== "error") worst.set(line.from, severity);
  }
  for (const [from, severity] of worst) gutter.push(line_classes[severity].range(from));
  return { marks: Decoration.set(marks, true), gutter: RangeSet.of(gutter, true), count: diagnostics.length };
}

const notes = StateField.define({
  create: () => ({ marks: Decoration.none, gutter: RangeSet.empty, count: 0 }),
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(setNotes)) return notes_of(transaction.state, effect.value);
    if (!transaction.docChanged || !value.count) return value;
    return { ...value, marks: value.marks.map(transaction.changes), gutter: value.gutter.map(transaction.changes) };
  },
  provide: (field) => [
    EditorView.decorations.from(field, (value) => value.marks),
    gutterLineClass.from(field, (value) => value.gutter),
    EditorView.contentAttributes.from(field, (value) => ({ "aria-invalid": value.count ? "true" : "false" })),
  ],
});

// --- Words the page knows -------------------------------------------------------------------------------------------

// Where the caret or the pointer is, in the page's terms.
function place(state, position, explicit) {
  const line = state.doc.lineAt(position);
  return { text: state.doc.toString(), line: line.number, column: column_of(line.text, position - line.from), explicit };
}

function completion_source(ask) {
  return async (context) => {
    const word = context.matchBefore(/[\w./-]*/);
    const options = await ask(place(context.state, context.pos, context.explicit));
    if (!options || !options.length || context.aborted) return null;
    return {
      from: word ? word.from : context.pos,
      validFor: /^[\w./-]*$/,
      options: [...options].map(({ label, detail, info, insert, boost }) => ({ label, detail, info: info || undefined, apply: insert || undefined, boost })),
    };
  };
}

function hover_source(ask) {
  return hoverTooltip(async (view, position) => {
    const answer = await ask(place(view.state, position, false));
    if (!answer) return null;
    return {
      pos: position,
      create() {
        const dom = document.createElement("div");
        dom.className = "cm-hover";
        if (answer.title) dom.appendChild(document.createElement("b")).textContent = answer.title;
        dom.append(answer.text ?? String(answer));
        return { dom };
      },
    };
  });
}

// --- The editor -----------------------------------------------------------------------------------------------------

/**
 * Mount an editor as the only child of `element`.
 *
 * Options: `text`; `language` ("yaml", or anything else for plain text); `readOnly`; `ariaLabel`; `theme` ("dark" or
 * "light"); `phrases` (CodeMirror's own words, translated); `onChange(text)` after an edit by the user (not by
 * `setText`); `onApply()` on Ctrl-Enter or Cmd-Enter; `onCursor({line, column})` when the caret moved.
 *
 * Tab is not an editing key here: it accepts an open completion, and otherwise leaves the editor.
 * Ctrl-] and Ctrl-[ indent and outdent.
 */
export function mount(element, options = {}) {
  const completion = new Compartment(), hover = new Compartment(), theme = new Compartment(), read_only = new Compartment();
  const theme_of = (name) => EditorView.theme({}, { dark: name === "dark" });
  const read_only_of = (yes) => [EditorState.readOnly.of(!!yes), EditorView.editable.of(!yes)];
  const complete_with = (ask) => autocompletion({ override: ask ? [completion_source(ask)] : [], icons: false, activateOnTyping: !!ask });

  const view = new EditorView({
    parent: element,
    doc: options.text ?? "",
    extensions: [
      lineNumbers(), foldGutter(), history(), drawSelection(), bracketMatching(), closeBrackets(),
      highlightActiveLine(), highlightActiveLineGutter(),
      EditorState.tabSize.of(2), indentUnit.of("  "),
      options.language === "yaml" || options.language === undefined ? yaml() : [],
      syntaxHighlighting(colours), EditorView.theme(look), notes,
      EditorState.phrases.of(options.phrases ?? {}),
      EditorView.contentAttributes.of({
        "aria-label": options.ariaLabel ?? "", spellcheck: "false", autocorrect: "off", autocapitalize: "off", translate: "no",
        // Said aloud, for those (axe, some screen readers) who do not count editable content as reachable.
        tabindex: "0",
      }),
      Prec.highest(keymap.of([
        { key: "Mod-Enter", run: () => { if (!options.onApply) return false; options.onApply(); return true; } },
        { key: "Tab", run: acceptCompletion },
      ])),
      keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap]),
      completion.of(complete_with(null)), hover.of([]), theme.of(theme_of(options.theme)), read_only.of(read_only_of(options.readOnly)),
      EditorView.updateListener.of((update) => {
        const own = update.transactions.some((transaction) => transaction.annotation(Transaction.userEvent) === "kubestep");
        if (update.docChanged && !own) options.onChange?.(view.state.doc.toString());
        if (update.selectionSet || update.docChanged) options.onCursor?.(position());
      }),
    ],
  });

  const reconfigure = (compartment, extension) => view.dispatch({ effects: compartment.reconfigure(extension) });
  function position() {
    const { line, column } = place(view.state, view.state.selection.main.head, false);
    return { line, column };
  }

  return {
    /** Replace the text; undo takes it back; `onChange` is not called. Keeps the caret where the text is unchanged. */
    setText(text) {
      const old = view.state.doc.toString();
      if (old === text) return;
      let from = 0, end = old.length, new_end = text.length;
      while (from < end && from < new_end && old.charCodeAt(from) === text.charCodeAt(from)) from++;
      while (end > from && new_end > from && old.charCodeAt(end - 1) === text.charCodeAt(new_end - 1)) { end--; new_end--; }
      view.dispatch({ changes: { from, to: end, insert: text.slice(from, new_end) }, userEvent: "kubestep" });
    },
    getText: () => view.state.doc.toString(),
    /** Show `[{line, column, endColumn, message, severity}]` ("error" or "warning") under their lines; columns may be 0. */
    setDiagnostics(list) { view.dispatch({ effects: setNotes.of([...list]) }); },
    /** Ask `fn({text, line, column, explicit})` for `[{label, detail, info, insert}]`, or a promise of it; null turns it off. */
    setCompletions(fn) { reconfigure(completion, complete_with(fn)); },
    /** Ask `fn({text, line, column})` for `{title, text}`, or a promise of it, or null; null turns it off. */
    setHover(fn) { reconfigure(hover, fn ? hover_source(fn) : []); },
    setReadOnly(yes) { reconfigure(read_only, read_only_of(yes)); },
    /** "dark" or "light": only what CodeMirror itself draws; all colours are CSS variables. */
    setTheme(name) { reconfigure(theme, theme_of(name)); },
    /** Put the caret at a place and bring it into view. */
    reveal(line, column) {
      const target = view.state.doc.line(Math.min(Math.max(1, line), view.state.doc.lines));
      const anchor = Math.min(target.to, target.from + offset_of(target.text, column));
      view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
    },
    focus: () => view.focus(),
    hasFocus: () => view.hasFocus,
    destroy: () => view.destroy(),
  };
}
