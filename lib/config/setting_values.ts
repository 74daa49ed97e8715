import { z } from "zod";

import { CONVENTIONS, type Conventions } from "@/lib/campaigns/projection/conventions.ts";
import { parseWebhookSecrets } from "@/lib/operations/notifications/webhook.ts";
import { parseSessionKeys } from "@/lib/auth/session_token.ts";
import { DNS_LABEL, withoutTrailingSlash } from "@/lib/std/text.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";

/** A text in a file, or the text itself. */
export type TextSource = { readonly path: string } | { readonly text: string };

/** The name of a kind of value, in messages ("must be …") and in the documentation. */
export const kinds = z.registry<{ readonly text: string }>();

/** A more specific problem than the name of the value's kind. */
class Problem {
  constructor(readonly text: string) {}
}

/** A kind of value: `parse` returns undefined for what it rejects. `shown`: an error may repeat the rejected value. */
function kind<T>(text: string, parse: (value: string) => T | Problem | undefined, { shown = false } = {}) {
  const schema = z.string().transform((value, context): T => {
    const result = parse(value);
    if (result instanceof Problem) {
      context.addIssue({ code: "custom", message: result.text });
      return z.NEVER;
    }
    if (result !== undefined) return result;
    const given = shown && value.length <= MAX_SHOWN ? `, not ${JSON.stringify(value)}` : "";
    context.addIssue({ code: "custom", message: `must be ${text}${given}` });
    return z.NEVER;
  });
  kinds.add(schema, { text });
  return schema;
}

/** Any text on one line. */
export const line = () => kind("text on one line", (value) => hasControl(value) ? undefined : value);

/** Any text. */
const text = () => kind("text, also of several lines", (value) => value);

/** The path of a file or folder. */
export const path = () => kind("a path", (value) => hasControl(value) ? undefined : value);

/**
 * The path of a file whose text may be given instead, in the variable that `About.content` names: `readSettings` passes
 * it as `{ text }`. `content` is the kind of that text.
 */
export function textSource(content: z.ZodType = text()) {
  const schema = z.custom<string | { text: string }>().transform((given, context): TextSource => {
    const source = typeof given === "string" ? { path: given } : given;
    const result = "path" in source ? path().safeParse(source.path) : content.safeParse(source.text);
    if (!result.success) context.addIssue({ code: "custom", message: result.error.issues[0].message });
    return source;
  });
  kinds.add(schema, { text: "a path" });
  return schema;
}

/** Certificates as PEM text. */
export const certificates = () =>
  kind("certificates in PEM", (value) => value.includes("-----BEGIN CERTIFICATE-----") ? value : undefined);

/** The keys of sessions. */
export const sessionKeys = () =>
  kind("one or two keys, each the base64 of 32 bytes", (value) => parseSessionKeys(value) ?? undefined);

/** True for any value at all. */
export const presence = () => kind("any value", () => true);

/** A yes or no. */
export const flag = () => kind("true or false", (value) => FLAGS.get(value.toLowerCase()), { shown: true });

/** One of some words, in any case; `synonyms` maps further words to them. */
export function choice<const T extends string>(words: readonly T[], synonyms: Readonly<Record<string, T>> = {}) {
  const known = new Map<string, T>([...words.map((word): [string, T] => [word, word]), ...Object.entries(synonyms)]);
  return kind(alternatives(words), (value) => known.get(value.toLowerCase()), { shown: true });
}

/** Some of these words, separated by commas. */
export function choices<const T extends string>(words: readonly T[]) {
  return kind(`a comma-separated list of ${alternatives(words)}`, (value) => {
    const chosen = separated(value).map((part) => words.find((word) => word === part.toLowerCase()));
    return chosen.length > 0 && chosen.every((word) => word !== undefined) ? chosen : undefined;
  }, { shown: true });
}

/** A whole number within limits. */
export function integer(min: number, max: number, unit = "") {
  return kind(`a whole number${unit && ` of ${unit}`} from ${min} to ${max}`, (value) => {
    return /^[+-]?\d{1,15}$/.test(value) ? within(Number(value), min, max) : undefined;
  }, { shown: true });
}

/** A decimal number within limits. */
export function decimal(min: number, max: number, unit = "") {
  return kind(`a number${unit && ` of ${unit}`} from ${min} to ${max}`, (value) => {
    return /^\d{1,9}(?:\.\d{1,9})?$/.test(value) ? within(Number(value), min, max) : undefined;
  }, { shown: true });
}

/** A host name or address without scheme and port, in a URL's spelling. */
export const host = () => kind("a host name or an IP address, without scheme and port", canonicalHost);

/** A domain name below which hosts are named. */
export const domain = () =>
  kind(
    "a domain name such as store.example.org, without scheme and port",
    (value) => DOMAIN.test(value) ? value.toLowerCase() : undefined,
  );

/** An http or https origin, without a trailing slash. */
export const origin = () => kind("an address such as https://s3.example.org, without a path", parseOrigin);

/** An origin in which `{tenant}` stands for a tenant's name. */
export const originTemplate = () =>
  kind("an address without a path, such as https://{tenant}.example.org", (value) => {
    return parseOrigin(value.replaceAll("{tenant}", "tenant")) ? withoutTrailingSlash(value) : undefined;
  });

/** A list of origins as browsers send them, or `*`. */
export const origins = () =>
  kind("* or a comma-separated list of origins such as https://console.example.org", (value) => {
    if (value === "*") return value;
    const list = separated(value).map(parseOrigin);
    return list.length > 0 && list.every((one) => one !== undefined) ? list : undefined;
  });

/** An http or https base to which paths are appended, as typed but for trailing slashes. */
export const base = () =>
  kind("an http or https address without user name, query and fragment", (value) => {
    const bare = withoutTrailingSlash(value);
    return parseWebUrl(bare) ? bare : undefined;
  });

/** The base of a results service, which ends in `/results`. */
export const resultsBase = () =>
  kind("an http or https address that ends in /results", (value) => {
    const bare = withoutTrailingSlash(value);
    return parseWebUrl(bare)?.pathname.endsWith("/results") ? bare : undefined;
  });

/** The address of a Redis or Valkey server. */
export const redisAddress = () =>
  kind("an address such as redis://:password@host:6379/0, or rediss:// for TLS", (value) => {
    const url = parseServerUrl(value, /^rediss?:$/);
    const isValid = url && /^(?:\/\d{0,4})?$/.test(url.pathname) && isDecodable(url.username) &&
      isDecodable(url.password);
    return isValid ? value : undefined;
  });

/** Addresses that receive events. */
export const webhookAddresses = () =>
  kind("a comma-separated list of up to 8 addresses such as https://hooks.example.org/stackroom", (value) => {
    const urls = listOf(value, MAX_WEBHOOKS, (url) => parseWebUrl(url, /#/) !== undefined);
    return urls?.map((url) => new URL(url).href);
  });

/** The secrets that sign what webhooks receive. */
export const webhookSecrets = () =>
  kind("one or two secrets, each whsec_ and the base64 of 24 to 64 bytes", (value) => {
    return parseWebhookSecrets(value) ? value : undefined;
  });

/** The address of a mail server. */
export const smtpAddress = () =>
  kind("an address such as smtps://mail.example.org or smtp://mail.example.org:587, without user and path", (value) => {
    const url = parseServerUrl(value, /^smtps?:$/);
    return url && hasNoLogin(url) && /^\/?$/.test(url.pathname) ? value : undefined;
  });

/** A mail address, without a name. */
export const mailAddress = () =>
  kind("a mail address such as stackroom@example.org, without a name", (value) => {
    return isMailAddress(value) ? value : undefined;
  });

/** Mail addresses, without names. */
export const mailAddresses = () =>
  kind("a comma-separated list of up to 20 mail addresses, without names", (value) => {
    return listOf(value, MAX_RECIPIENTS, isMailAddress);
  });

/** Names that Kubernetes accepts for a namespace. */
export const namespaces = () =>
  kind("a comma-separated list of Kubernetes namespaces", (value) => {
    return listOf(value, Infinity, (name) => DNS_LABEL.test(name));
  }, { shown: true });

/** The name of a tenant, which is a host label. */
export const tenant = () =>
  kind("a tenant name that is a host label, without xn--", (value) => {
    return TENANT.test(value) ? value : undefined;
  }, { shown: true });

const MAX_WEBHOOKS = 8;
const MAX_RECIPIENTS = 20;
/** An address that needs no quotes and no encoding in a header (RFC 5322 §3.4.1, dot-atom). */
const MAIL_ADDRESS = /^(?=.{3,254}$)[a-z0-9!#$%&'*+/=?^_`{|}~-]{1,64}(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]{1,64}){0,10}@/i;
const TENANT = /^(?!xn--)(?=.{1,63}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i;
const DOMAIN = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/i;
/** Longer values are not repeated in a message: it stays one readable line. */
const MAX_SHOWN = 40;

const FLAGS = new Map([
  ...["true", "1", "yes", "on"].map((word): [string, boolean] => [word, true]),
  ...["false", "0", "no", "off"].map((word): [string, boolean] => [word, false]),
]);

function alternatives(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

function separated(value: string): string[] {
  return value.split(",").map((part) => part.trim()).filter((part) => part !== "");
}

/** The different parts of a comma-separated list; undefined without any, for too many, and for an invalid one. */
function listOf(value: string, max: number, isValid: (part: string) => boolean): string[] | undefined {
  const parts = [...new Set(separated(value))];
  return parts.length > 0 && parts.length <= max && parts.every(isValid) ? parts : undefined;
}

function within(value: number, min: number, max: number): number | undefined {
  return value >= min && value <= max ? value : undefined;
}

function parseOrigin(value: string): string | undefined {
  const url = parseWebUrl(value);
  return url && url.pathname === "/" ? url.origin : undefined;
}

function parseWebUrl(value: string, unwanted?: RegExp): URL | undefined {
  const url = parseUrl(value, /^https?:$/, unwanted);
  return url && hasNoLogin(url) ? url : undefined;
}

/** An address of a server that is not one of the web, whose host the runtime does not check. */
function parseServerUrl(value: string, protocol: RegExp): URL | undefined {
  const url = parseUrl(value, protocol);
  return url && canonicalHost(url.hostname) && url.port !== "0" ? url : undefined;
}

/** `new URL` drops blanks and control characters silently: such a value is refused instead. */
function parseUrl(value: string, protocol: RegExp, unwanted = /[?#]/): URL | undefined {
  const url = hasBlank(value) || unwanted.test(value) ? null : URL.parse(value);
  return url && protocol.test(url.protocol) ? url : undefined;
}

function hasNoLogin({ username, password }: URL): boolean {
  return username === "" && password === "";
}

function isMailAddress(value: string): boolean {
  return MAIL_ADDRESS.test(value) && DOMAIN.test(value.slice(value.lastIndexOf("@") + 1));
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function hasBlank(value: string): boolean {
  return /\s/.test(value) || hasControl(value);
}

function hasControl(value: string): boolean {
  return /\p{Cc}/u.test(value);
}

const labelValue = z.string().regex(/^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/);
const manager = z.string().regex(/^[\x21-\x7e]{1,128}$/);

const overrides = z.strictObject({
  preset: z.enum(["stackroom", "htrflow"]).default("stackroom"),
  labelDomain: z.string().regex(/^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?\/$/).optional(),
  campaignApp: labelValue.optional(),
  warmupApp: labelValue.optional(),
  managedBy: labelValue.optional(),
  pipelinePrefix: z.string().regex(/^[a-z0-9][a-z0-9.-]{0,62}$/).optional(),
  summaryManager: manager.optional(),
  failuresManager: manager.optional(),
  applyManager: manager.optional(),
  defaultNamespace: z.string().regex(DNS_LABEL).optional(),
  cookieStem: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/).optional(),
});

/** Which conventions hold: a preset's name, or a JSON object of members of {@linkcode Conventions} over a preset. */
export const conventions = () => kind("stackroom, htrflow or a JSON object of overrides", parseConventions);

function parseConventions(value: string): Conventions | Problem | undefined {
  if (value === "stackroom" || value === "htrflow") return CONVENTIONS[value];
  const result = overrides.safeParse(parsedJson(value));
  if (result.success) {
    const { preset, ...members } = result.data;
    const merged = { ...CONVENTIONS[preset], ...members };
    return twins(merged) ?? merged;
  }
  const issue = result.error.issues[0];
  if (issue.code === "unrecognized_keys") {
    const known = Object.keys(overrides.shape).join(", ");
    return new Problem(`has the unknown member ${JSON.stringify(issue.keys[0].slice(0, 40))}; known are ${known}`);
  }
  return issue.path.length > 0 ? new Problem(`has no valid value for the member ${issue.path.join(".")}`) : undefined;
}

/** Two roles of one name could not be distinguished: neither two kinds of Jobs, nor the two halves of a record. */
function twins(conventions: Conventions): Problem | undefined {
  for (const names of [["campaignApp", "warmupApp"], ["summaryManager", "failuresManager", "applyManager"]] as const) {
    if (new Set(names.map((name) => conventions[name])).size < names.length) {
      return new Problem(`must have different values for ${names.join(", ")}`);
    }
  }
}

const WILDCARDS = new Set(["0.0.0.0", "[::]", "[::ffff:0:0]"]);
const NAME_OR_ADDRESS = /^(?:[A-Za-z0-9._-]+|\[?[0-9A-Fa-f:.]+\]?)$/;

/** The names under which a browser on the same machine reaches it, as a URL spells them. */
export const LOOPBACK_NAMES: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/**
 * A host name or address as a URL spells it (lower case, IPv6 in brackets, `0` as `0.0.0.0`), or undefined.
 * One spelling per host, so that a wildcard cannot hide behind another one.
 */
export function canonicalHost(text: string): string | undefined {
  if (!NAME_OR_ADDRESS.test(text)) return undefined;
  const host = text.includes(":") && !text.startsWith("[") ? `[${text}]` : text;
  return URL.parse(`http://${host}/`)?.hostname;
}

/** Whether a canonical host means every interface of the machine. */
export function isWildcard(host: string): boolean {
  return WILDCARDS.has(host);
}

/** Whether a canonical host is reached from this machine only. */
export function isLoopback(host: string): boolean {
  return LOOPBACK_NAMES.includes(host) || /^127\.\d+\.\d+\.\d+$/.test(host) || host.endsWith(".localhost");
}

/** The form that sockets take: a canonical host without the brackets of an IPv6 address. */
export function bindAddress(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}
