import { inLanguage } from "@/lib/pages/locale/language.ts";
import { member, stringAt } from "@/lib/std/untrusted.ts";
import { filled, paramsOf } from "./coded_sentences.ts";
import * as en from "@/locales/en/coded_checks.ts";
import * as sv from "@/locales/sv/coded_checks.ts";

/** The sentences of all codes; pages with scripts of their own load those of tasks alone. */
export const ALL_SENTENCES = inLanguage({ en: en.ALL, sv: sv.ALL });
const INVALID = inLanguage({ en: en.INVALID, sv: sv.INVALID });

/** Why a field of a request is invalid, by the first entry of a 422 response; "" for what is none. */
export function invalidText(entry: unknown): string {
  const type = stringAt(entry, "type") ?? "";
  const text = stringAt(entry, "msg") ?? "";
  return isKnownType(type) ? filled(INVALID[type], paramsOf(member(entry, "ctx"))) : text;
}

/** Why a form was taken for one of another site, by the code in the address of the login page; null for other codes. */
export function foreignOriginSentence(code: string | null): string | null {
  return code === "origin_scheme" || code === "origin_host" ? ALL_SENTENCES[code] : null;
}

function isKnownType(type: string): type is keyof typeof INVALID {
  return Object.hasOwn(INVALID, type);
}
