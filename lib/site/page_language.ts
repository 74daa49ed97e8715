import { AsyncLocalStorage } from "node:async_hooks";

import { preferredLanguage } from "@/lib/http/header_values.ts";
import { currentLanguage, type Language, LANGUAGES, readLanguageFrom } from "@/lib/pages/locale/language.ts";

const COOKIE = "language";
const YEAR_SECONDS = 365 * 24 * 3600;

const ofRequest = new AsyncLocalStorage<Language>();
readLanguageFrom(() => ofRequest.getStore() ?? LANGUAGES[0]);

/** Renders in the language of a request's reader: requests that are under way at the same time do not share it. */
export function inLanguageOf<Result>(request: Request, render: () => Result): Result {
  return ofRequest.run(languageOf(request.headers), render);
}

/** The headers of what is rendered in the current language. */
export function languageHeaders() {
  return { "Content-Language": currentLanguage(), "Vary": "Accept-Encoding, Accept-Language, Cookie" };
}

/** The `Set-Cookie` value that stores the reader's choice. It holds no secret and decides nothing else. */
export function languageCookie(scheme: "http" | "https", language: Language): string {
  const secure = scheme === "https" ? "; Secure" : "";
  return `${COOKIE}=${language}; Max-Age=${YEAR_SECONDS}; Path=/; HttpOnly; SameSite=Lax${secure}`;
}

/** The reader's choice, else what the browser prefers, else English. */
function languageOf(headers: Headers): Language {
  return chosenLanguage(headers.get("Cookie") ?? "") ?? preferredLanguage(headers.get("Accept-Language"), LANGUAGES) ??
    LANGUAGES[0];
}

function chosenLanguage(cookies: string): Language | null {
  for (const part of cookies.split(";")) {
    const [name, value] = part.split("=", 2).map((text) => text.trim());
    if (name === COOKIE) return LANGUAGES.find((language) => language === value) ?? null;
  }
  return null;
}
