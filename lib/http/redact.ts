const REDACTED = "[redacted]";
const SECRET_NAME = /^(?:.*password.*|pwd|ticket|token|.*_token|authorization|.*secret.*|x-amz-.*)$/i;
/** Continuation tokens are positions in a listing, not secrets; operators need them to follow a paged client. */
const OPEN_NAMES = new Set(["continuation_token"]);
const BEARER_VALUE = /^(?:bearer|basic|hcp|ad)[\s+]|eyJ[\w-]{5,}\.[\w-]{5,}\./i;
/** What all that is looked for has in common; most paths have none of it. */
const MAY_HOLD_SECRETS = /[=:\s]|%3[ad]|eyJ/i;
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
  return text
    .replace(
      /(x-amz-[\w-]+|\w*password\w*|\bticket|authorization|\bpwd)(\s*(?:[=:]|%3d|%3a)\s*)(?:(?:bearer|hcp|ad|basic)\s+)?[^&\s"'<>]+/gi,
      `$1$2${REDACTED}`,
    )
    .replace(/\b(signature|credential)(\s*(?:=|%3d)\s*)[^&\s"'<>,]+/gi, `$1$2${REDACTED}`)
    .replace(/\b(bearer|hcp)\s+[\w.~+/=:-]{8,}/gi, `$1 ${REDACTED}`)
    .replace(/\beyJ[\w-]+\.[\w-]*\.?[\w-]*/g, REDACTED);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
