import { formatCount } from "@/lib/presentation/locale/figures.ts";
import { inLanguage } from "@/lib/presentation/locale/language.ts";
import { type Coded, type CodedText, PROBLEM_CODES, type ProblemParams } from "@/lib/std/coded.ts";
import { clip, entries, member, stringAt } from "@/lib/std/untrusted.ts";
import * as en from "@/lib/presentation/sentences/en/coded.ts";
import * as sv from "@/lib/presentation/sentences/sv/coded.ts";

const SENTENCES = inLanguage({ en: en.CODED, sv: sv.CODED });
const INVALID = inLanguage({ en: en.INVALID, sv: sv.INVALID });
/** Characters of a value within a sentence. */
const MAX_VALUE = 1024;

/** The code in a JSON object of our API, in its members `code` and `params`; null: it has none that is known. */
export function codedAt(json: unknown): Coded | null {
  const code = PROBLEM_CODES.find((one) => one === stringAt(json, "code"));
  return code === undefined ? null : { code, params: paramsOf(member(json, "params")) };
}

/** A sentence of our API in the reader's language; a text without a known code is shown as it is. */
export function translated({ text, coded }: CodedText): string {
  return coded === null || text === "" ? text : filled(SENTENCES[coded.code], coded.params ?? {});
}

/** The text of a member of a JSON object of our API, with the code beside it; "" where there is none. */
export function codedText(json: unknown, name: string): string {
  return translated({ text: stringAt(json, name) ?? "", coded: codedAt(json) });
}

/** Texts of our API with the list of their codes. */
export function codedTexts(texts: readonly string[], codes: unknown): string[] {
  const listed = entries(codes);
  return texts.map((text, place) => translated({ text, coded: codedAt(listed[place]) }));
}

/** Why a field of a request is invalid, by the first entry of a 422 response; "" for what is none. */
export function invalidText(entry: unknown): string {
  const type = stringAt(entry, "type") ?? "";
  const text = stringAt(entry, "msg") ?? "";
  const ctx = paramsOf(member(entry, "ctx"));
  return isKnownType(type) ? filled(INVALID[type], ctx) : text;
}

/** A sentence with its values; numbers with separators. */
function filled(sentence: string, params: ProblemParams): string {
  return sentence.replace(/\{(\w+)\}/g, (_, name) => {
    const value = Object.hasOwn(params, name) ? params[name] : "?";
    return typeof value === "number" ? formatCount(value) : value;
  });
}

function isKnownType(type: string): type is keyof typeof INVALID {
  return Object.hasOwn(INVALID, type);
}

function paramsOf(params: unknown): ProblemParams {
  if (typeof params !== "object" || params === null) return {};
  const known: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(params)) {
    if (typeof value === "number") known[name] = value;
    else if (typeof value === "string") known[name] = clip(value, MAX_VALUE);
  }
  return known;
}
