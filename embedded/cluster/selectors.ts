import { integerAt, stringAt } from "@/lib/std/untrusted.ts";
import { badRequest } from "./api_status.ts";
import type { KubeObject, Plural } from "./objects.ts";

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
export function isLabelKey(text: string): boolean {
  return KEY.test(text);
}

/** Whether a text can be the value of a label. */
export function isLabelValue(text: string): boolean {
  return VALUE.test(text);
}

function labelRequirement(part: string, whole: string): LabelSelector {
  const invalid = () => badRequest(`unable to parse requirement: ${whole}`);
  const check = (key: string, values: string[]) => {
    if (!KEY.test(key) || !values.every((value) => VALUE.test(value))) throw invalid();
  };
  const set = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/.exec(part);
  if (set) {
    const values = set[3].split(",").map((value) => value.trim());
    check(set[1], values);
    const among = (labels: Readonly<Record<string, string>>) =>
      Object.hasOwn(labels, set[1]) && values.includes(labels[set[1]]);
    return set[2] === "in" ? among : (labels) => !among(labels);
  }
  const equality = /^([^\s=!]+)\s*(!=|==|=)\s*([^\s=!]*)$/.exec(part);
  if (equality) {
    const [, key, operator, value] = equality;
    check(key, [value]);
    const equal = (labels: Readonly<Record<string, string>>) => Object.hasOwn(labels, key) && labels[key] === value;
    return operator === "!=" ? (labels) => !equal(labels) : equal;
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
