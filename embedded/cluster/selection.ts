import { Buffer } from "node:buffer";
import { z } from "zod";
import { integerAt, stringAt } from "@/lib/std/untrusted.ts";
import { badRequest, invalidOptions, versionTooLarge } from "./api_status.ts";
import type { KubeObject, Plural } from "./kube_objects.ts";
import { byNamespaceAndName, type ClusterStore, type Named } from "./store.ts";

/**
 * Lists objects of the current state, with the list's own metadata, by the query of a request: `labelSelector`, `fieldSelector`, `limit`, `continue`,
 * and `resourceVersion`, which the state must have reached. A `continue` starts behind the last object of its page.
 *
 * @throws ApiError 400 for a malformed parameter, 422 for an exact version, 504 for a version that is not reached
 */
export function listPage(store: ClusterStore, plural: Plural, namespace: string | null, query: URLSearchParams) {
  const selects = selectionOf(plural, query);
  const limit = wholeNumber(query, "limit") ?? 0;
  const token = query.get("continue");
  const last = token ? readContinue(token) : null;
  const match = query.get("resourceVersionMatch") ?? "";
  if (match !== "" && match !== "NotOlderThan") {
    throw invalidOptions("ListOptions", "resourceVersionMatch", "NotSupported", "only NotOlderThan is offered");
  }
  const wanted = wholeNumber(query, "resourceVersion") ?? 0;
  if (wanted > store.version) throw versionTooLarge(wanted, store.version);
  const chosen = store.list(plural, namespace).filter((object) =>
    (last === null || byNamespaceAndName(object, last) > 0) && selects(object)
  );
  const objects = limit > 0 ? chosen.slice(0, limit) : chosen;
  const end = objects.at(-1);
  const isWhole = end === undefined || objects.length === chosen.length;
  return {
    objects,
    metadata: { resourceVersion: String(store.version), ...(!isWhole && { continue: writeContinue(end) }) },
  };
}

/** The filter of `labelSelector` and `fieldSelector` in a query. @throws ApiError 400 */
export function selectionOf(plural: Plural, query: URLSearchParams): (object: KubeObject) => boolean {
  const labels = parseLabelSelector(query.get("labelSelector") ?? "");
  const fields = parseFieldSelector(query.get("fieldSelector") ?? "", plural);
  return (object) => labels(object.metadata.labels ?? {}) && fields(object);
}

/** A query parameter that is a whole number, not negative; null when absent or empty. */
export function wholeNumber(query: URLSearchParams, name: string): number | null {
  const text = query.get(name);
  if (text === null || text === "") return null;
  if (!/^\d{1,15}$/.test(text)) throw badRequest(`${name}: not a whole number`);
  return Number(text);
}

/** The namespace and name in a `continue` token. */
const POSITION = z.tuple([z.string(), z.string()]);

function writeContinue({ metadata: { namespace = "", name } }: Named): string {
  return Buffer.from(JSON.stringify([namespace, name])).toString("base64url");
}

function readContinue(token: string): Named {
  try {
    const [namespace, name] = POSITION.parse(JSON.parse(Buffer.from(token, "base64url").toString()));
    return { metadata: { namespace, name } };
  } catch {
    throw badRequest("continue key is not valid");
  }
}

/** A boolean query parameter; false when absent. */
export function isTrue(query: URLSearchParams, name: string): boolean {
  const text = query.get(name) ?? "";
  if (/^(1|t|true)$/i.test(text)) return true;
  if (/^(|0|f|false)$/i.test(text)) return false;
  throw badRequest(`${name}: not a boolean`);
}

type LabelSelector = (labels: Readonly<Record<string, string>>) => boolean;
type FieldSelector = (object: KubeObject) => boolean;

/** Longest selector, characters; real ones have a few hundred at most. */
const MAX_SELECTOR_CHARACTERS = 16 * 1024;

/**
 * Reads a label selector: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a`, `!a`, joined by commas
 * (Kubernetes, "Labels and Selectors"). Throws a 400 for anything else.
 */
export function parseLabelSelector(text: string): LabelSelector {
  if (text.length > MAX_SELECTOR_CHARACTERS) throw badRequest("the label selector is too long");
  if (text.trim() === "") return () => true;
  const requirements = splitOutsideParentheses(text).map((part) => labelRequirement(part.trim(), text));
  return (labels) => requirements.every((holds) => holds(labels));
}

/**
 * Reads a field selector: `field=value`, `==` or `!=`, joined by commas, with `\` before a comma, `=` or `\` of a value.
 * Throws a 400 for a field that the kind cannot be selected by.
 */
export function parseFieldSelector(text: string, plural: Plural): FieldSelector {
  if (text.length > MAX_SELECTOR_CHARACTERS) throw badRequest("the field selector is too long");
  if (text === "") return () => true;
  const requirements = text.split(/(?<!\\),/).filter((part) => part !== "").map((part) => {
    const match = /^([A-Za-z0-9.]+)(!=|==|=)((?:[^\\=,]|\\[\\=,])*)$/.exec(part);
    if (!match) throw badRequest(`invalid field selector: ${part}`);
    const [, field, operator] = match;
    const wanted = match[3].replace(/\\([\\=,])/g, "$1");
    const isSelectable = ["metadata.name", "metadata.namespace", ...SELECTABLE[plural]].includes(field);
    if (!isSelectable) throw badRequest(`field label not supported: ${field}`);
    return (object: KubeObject) => (fieldOf(object, field) === wanted) === (operator !== "!=");
  });
  return (object) => requirements.every((holds) => holds(object));
}

const NAME = String.raw`[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?`;
const KEY = new RegExp(String.raw`^(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?/)?${NAME}$`);
const VALUE = new RegExp(`^(?:${NAME})?$`);

/** Whether a text can be the key of a label: a name, with a DNS prefix before a slash or without. */
export const isLabelKey = (text: string): boolean => KEY.test(text);

/** Whether a text can be the value of a label. */
export const isLabelValue = (text: string): boolean => VALUE.test(text);

function labelRequirement(part: string, whole: string): LabelSelector {
  const invalid = () => badRequest(`unable to parse requirement: ${whole}`);
  const check = (key: string, values: string[]) => {
    if (!KEY.test(key) || !values.every((value) => VALUE.test(value))) throw invalid();
  };
  const match = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/.exec(part) ?? /^([^\s=!]+)\s*(!=|==|=)\s*([^\s=!]*)$/.exec(part);
  if (match) {
    const [, key, operator, list] = match;
    const values = list.split(",").map((value) => value.trim());
    check(key, values);
    const among = (labels: Readonly<Record<string, string>>) =>
      Object.hasOwn(labels, key) && values.includes(labels[key]);
    return operator === "notin" || operator === "!=" ? (labels) => !among(labels) : among;
  }
  const absent = part.startsWith("!");
  const key = absent ? part.slice(1).trim() : part;
  check(key, []);
  return (labels) => Object.hasOwn(labels, key) !== absent;
}

function splitOutsideParentheses(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let inside = false;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "(") inside = true;
    else if (text[at] === ")") inside = false;
    else if (text[at] === "," && !inside) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)];
}

const SELECTABLE: Readonly<Record<Plural, readonly string[]>> = {
  configmaps: [],
  namespaces: ["status.phase"],
  pods: ["status.phase", "spec.nodeName", "spec.restartPolicy"],
  jobs: ["status.successful"],
};

function fieldOf(object: KubeObject, field: string): string {
  if (field === "status.successful") return String(integerAt(object, "status", "succeeded"));
  return stringAt(object, ...field.split(".")) ?? "";
}
