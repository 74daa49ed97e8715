import { formatCount } from "@/lib/pages/locale/figures.ts";
import { inLanguage } from "@/lib/pages/locale/language.ts";
import type { Coded, CodedText, ProblemCode, ProblemParams } from "@/lib/std/coded.ts";
import { clip, entries, member, stringAt } from "@/lib/std/untrusted.ts";
import * as en from "@/locales/en/coded.ts";
import * as sv from "@/locales/sv/coded.ts";

/** Sentences by code, with values in braces. */
type CodedTable = Readonly<Record<string, string>>;

const SENTENCES: CodedTable = inLanguage({ en: en.CODED, sv: sv.CODED });
/** Characters of a value within a sentence. */
const MAX_VALUE = 1024;

/** The members `code` and `params` of a JSON object of our API; null without a code. The code may be an unknown one. */
export function codedAt(json: unknown): Coded | null {
  const code = stringAt(json, "code");
  return code === null ? null : { code: code as ProblemCode, params: paramsOf(member(json, "params")) };
}

/** A sentence of our API in the reader's language; a text without a known code is shown as it is. */
export function translated({ text, coded }: CodedText, sentences = SENTENCES): string {
  const isKnown = coded !== null && text !== "" && Object.hasOwn(sentences, coded.code);
  return isKnown ? filled(sentences[coded.code], coded.params ?? {}) : text;
}

/** The text of a member of a JSON object of our API, with the code beside it; "" where there is none. */
export function codedText(json: unknown, name: string, sentences = SENTENCES): string {
  return translated({ text: stringAt(json, name) ?? "", coded: codedAt(json) }, sentences);
}

/** Texts of our API with the list of their codes. */
export function codedTexts(texts: readonly string[], codes: unknown, sentences = SENTENCES): string[] {
  const listed = entries(codes);
  return texts.map((text, place) => translated({ text, coded: codedAt(listed[place]) }, sentences));
}

/** A sentence with its values; numbers with separators. */
export function filled(sentence: string, params: ProblemParams): string {
  return sentence.replace(/\{(\w+)\}/g, (_, name) => {
    const value = Object.hasOwn(params, name) ? params[name] : "?";
    return typeof value === "number" ? formatCount(value) : value;
  });
}

/** The numbers and texts in a JSON object, by name. */
export function paramsOf(params: unknown): ProblemParams {
  if (typeof params !== "object" || params === null) return {};
  const known: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(params)) {
    if (typeof value === "number") known[name] = value;
    else if (typeof value === "string") known[name] = clip(value, MAX_VALUE);
  }
  return known;
}
