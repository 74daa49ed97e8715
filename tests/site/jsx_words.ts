/** Attributes and props whose value a reader sees or hears. */
const SPOKEN: ReadonlySet<string> = new Set([
  ...["alt", "label", "placeholder", "sentence", "summary", "text", "title"],
  ...["aria-description", "aria-label", "aria-roledescription", "aria-valuetext"],
]);

/** What a string between two brackets is. */
interface Frame {
  /** `element` holds the arguments of `h`: the element, its props, its children. `group` is what it stands in. */
  readonly kind: "element" | "props" | "group" | "other";
  readonly isSeen: boolean;
  /** How many words were found before it. */
  readonly from: number;
  commas: number;
  /** The prop whose value begins here. */
  key: string;
}

/**
 * The words that JSX itself holds: texts and spoken attributes with letters, those of a conditional expression included. What
 * comes from a table of sentences has a name there, and no words.
 *
 * @param code JavaScript without types, in which `h` creates each element
 */
export function jsxWords(code: string): string[] {
  const words: string[] = [];
  const frames: Frame[] = [];
  const push = (kind: Frame["kind"], isSeen = false) =>
    frames.push({ kind, isSeen, from: words.length, commas: 0, key: "" });
  const isSeen = () => {
    const { kind, commas, key, isSeen } = frames[frames.length - 1];
    return kind === "element" ? commas > 1 : kind === "props" ? SPOKEN.has(key) : isSeen;
  };
  push("other");
  const tokens = [...tokensOf(code)];
  for (const [place, { text, isString }] of tokens.entries()) {
    const before = tokens[place - 1];
    const after = tokens[place + 1];
    const frame = frames[frames.length - 1];
    if (frame.kind === "props" && frame.key === "" && after?.text === ":") frame.key = text;
    else if (isString) {
      const isCompared = [before, after].some((next) => next && COMPARISON.test(next.text));
      if (isSeen() && !isCompared && /\p{L}/u.test(text)) words.push(text.trim());
    } else if (text === "(" || text === "[" || text === "${") {
      const isCall = text !== "${" && isValue(before);
      if (isCall && before.text === "h") push("element");
      else if (isCall) push("other");
      else push("group", isSeen());
    } else if (text === "{") push(frame.kind === "element" && frame.commas === 1 ? "props" : "other");
    else if (text === ")" || text === "]" || text === "}") {
      const { from } = frames.pop() ?? { from: 0 };
      // What a method is called on is data.
      if (text === "]" && after?.text === ".") words.length = from;
    } else if (text === ",") {
      frame.commas++;
      frame.key = "";
    }
  }
  return words;
}

const COMPARISON = /^(?:[=!]==?|in)$/;

interface Token {
  readonly text: string;
  /** A string without its quotes, or a text of a template. */
  readonly isString: boolean;
}

const SPACE = /(?:\s|\/\/.*|\/\*[^]*?\*\/)+/y;
const STRING = /"((?:[^"\\]|\\[^])*)"|'((?:[^'\\]|\\[^])*)'/y;
const TEMPLATE = /(?:[^`\\$]|\\[^]|\$(?!\{))*(?:`|\$\{)/y;
const REGEXP = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y;
const OTHER = /[\p{ID_Start}$_#][\p{ID_Continue}$]*|\d[\w.]*|[=!]==?|=>|[^]/uy;

function isValue(token: Token | undefined): boolean {
  if (!token) return false;
  return token.isString ||
    (/[\p{ID_Continue}$)\]}]$/u.test(token.text) && !/^(?:return|case|typeof|in|of)$/.test(token.text));
}

function* tokensOf(code: string): Generator<Token> {
  /** For each open brace, whether it is one of a template. */
  const braces: boolean[] = [];
  let at = 0;
  let last: Token | undefined;
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const found = pattern.exec(code);
    at += found?.[0].length ?? 0;
    return found;
  };
  const token = (text: string, isString = false) => last = { text, isString };
  function* template(): Generator<Token> {
    const text = match(TEMPLATE)?.[0] ?? "";
    const isEnd = text.endsWith("`");
    yield token(text.slice(0, isEnd ? -1 : -2), true);
    if (isEnd) return;
    braces.push(true);
    yield token("${");
  }
  for (match(SPACE); at < code.length; match(SPACE)) {
    const string = match(STRING);
    if (string) yield token(string[1] ?? string[2], true);
    else if (code[at] === "/" && !isValue(last)) yield token(match(REGEXP)?.[0] ?? code[at++]);
    else {
      const text = match(OTHER)?.[0] ?? "";
      if (text === "`") yield* template();
      else {
        yield token(text);
        if (text === "{") braces.push(false);
        else if (text === "}" && braces.pop()) yield* template();
      }
    }
  }
}
