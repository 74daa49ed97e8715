import { percentDecoded } from "@/lib/std/text.ts";

const REDACTED = "[redacted]";
const SECRET_NAME =
  /^(?:.*password.*|pwd|ticket|token|.*_token|.*_session|authorization|.*secret.*|x-amz-.*|signature|awsaccesskeyid)$/i;
/** Continuation tokens are positions in a listing, not secrets; operators need them to follow a paged client. */
const OPEN_NAMES = new Set(["continuation_token"]);
/** The header of a token is short: a longer run would be scanned again from each `eyJ` in it. */
const BEARER_VALUE = /^(?:bearer|basic|hcp|ad|aws|aws4-hmac-sha256)[\s+]|eyJ[\w-]{5,256}\.[\w-]{5,}\./i;
/** All secrets have one of these; most paths have none. */
const MAY_HOLD_SECRETS = /[=:\s<]|%3[ad]|eyJ/i;
/** A quotation mark around a name or a value of JSON, which may itself stand in a string. */
const QUOTE = String.raw`\\*["']?`;
/** Between a name and its value; a URL in a URL is percent-encoded, once for each URL around it. */
const EQUALS = String.raw`(?:=|%(?:25)*3d)`;
const EQUALS_OR_COLON = String.raw`(?:[=:]|%(?:25)*3[ad])`;

/**
 * Patterns of secrets in free text, and their replacements. Names start at a word boundary, so that a long text is scanned
 * once; an escape may precede the word (`%3Fticket`). An authorization takes the rest of its line.
 */
const SECRET_TEXT: readonly (readonly [pattern: RegExp, shown: string])[] = [
  // Before the names, since an access key may end in one, such as `pwd`.
  [/\b(bearer|hcp)\s+[\w.~+/=:-]{8,}/gi, `$1 ${REDACTED}`],
  [/\b(aws)\s+[^\s:&"'<>]+:[\w+/=%-]{8,}/gi, `$1 ${REDACTED}`],
  [
    secretText(
      String.raw`\b\w*authorization`,
      String.raw`${QUOTE}\s*${EQUALS_OR_COLON}\s*\[?${QUOTE}`,
      String.raw`&\r\n`,
    ),
    `$1$2${REDACTED}`,
  ],
  [
    secretText(
      String.raw`x-amz-[\w-]{1,64}|\b\w*(?:password\w{0,32}|ticket|pwd|awsaccesskeyid)`,
      String.raw`${QUOTE}\s*${EQUALS_OR_COLON}\s*${QUOTE}`,
      String.raw`&\s`,
    ),
    `$1$2${REDACTED}`,
  ],
  // After a colon these are words of a sentence, but for the members of JSON.
  [
    secretText(
      String.raw`\b\w*(?:signature|credential|_session|token(?<!continuation_token))`,
      String.raw`\s*${EQUALS}\s*|\\*["']\s*:\s*${QUOTE}`,
      String.raw`&\s,`,
    ),
    `$1$2${REDACTED}`,
  ],
  // S3 repeats these of a request whose signature is wrong.
  [/(<(?:AWSAccessKeyId|SignatureProvided|StringToSign|CanonicalRequest)>)[^<]+/gi, `$1${REDACTED}`],
  // User and password of an address, such as that of a Redis server.
  [/(:\/\/)[^\s\/?#@"'<>\\]+@/g, `$1${REDACTED}@`],
  [/(?:\b|(?<=%[0-9A-Fa-f]{2}))eyJ[\w-]{1,256}\.[\w-]*\.?[\w-]*/g, REDACTED],
];
const MAX_LOGGED_QUERY = 2048;

/** Whether a field of this name holds a secret, in queries, forms and bodies alike. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) && !OPEN_NAMES.has(name.toLowerCase());
}

/**
 * A raw query string (without `?`) for the log: names stay, the values of secret ones and whatever looks like a bearer
 * token or a signed address become `[redacted]`. At most 2,048 characters.
 */
export function redactQuery(query: string): string {
  if (query === "") return "";
  const parts = query.split("&").map((part) => {
    const cut = part.indexOf("=");
    if (cut < 0) return showsSecret(decoded(part)) ? REDACTED : part;
    const secret = isSecretName(decoded(part.slice(0, cut))) || showsSecret(decoded(part.slice(cut + 1)));
    return secret ? `${part.slice(0, cut)}=${REDACTED}` : part;
  });
  return parts.join("&").slice(0, MAX_LOGGED_QUERY);
}

/** Also a signed address may be the value of something. */
function showsSecret(value: string): boolean {
  return BEARER_VALUE.test(value) || redactText(value) !== value;
}

/** Free text (an upstream's message, a stack) without signed query values, tokens and authorization values. */
export function redactText(text: string): string {
  if (!MAY_HOLD_SECRETS.test(text)) return text;
  return SECRET_TEXT.reduce((shown, [pattern, replacement]) => shown.replace(pattern, replacement), text);
}

/** A raw path for the log. If only the decoded path shows a secret, the whole path is redacted. */
export function redactPath(path: string): string {
  const shown = redactText(path);
  if (shown !== path || !MAY_HOLD_SECRETS.test(path) || !path.includes("%")) return shown;
  const plain = decoded(path);
  return redactText(plain) === plain ? path : REDACTED;
}

/** Matches a name, a separator, and the value up to `ends` or a quotation mark. */
function secretText(names: string, between: string, ends: string): RegExp {
  return new RegExp(`(${names})(${between})[^${ends}"'<>\\\\]+`, "gi");
}

function decoded(text: string): string {
  return percentDecoded(text.replaceAll("+", " ")) ?? text;
}
