import { parse } from "yaml";

const FOLDER = new URL("../../deploy/monitoring/", import.meta.url);

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly summary: string };
}

/** The alerting rules that are shipped. */
export function alerts(): readonly Alert[] {
  const { groups } = parse(Deno.readTextFileSync(new URL("alerts.yaml", FOLDER)));
  return groups.flatMap(({ rules }: { rules: Alert[] }) => rules);
}

/** What an alert compares with: the operator and number at the end of its expression. */
export function fires(name: string, value: number): boolean {
  const expr = alerts().find(({ alert }) => alert === name)?.expr ?? "";
  const [, operator, limit] = expr.match(/ (>|<|==) ([\d.]+)$/) ?? [];
  if (operator === ">") return value > Number(limit);
  if (operator === "<") return value < Number(limit);
  if (operator === "==") return value === Number(limit);
  throw new Error(`${name} has no threshold`);
}

/** The expressions of the dashboard's panels. */
export function panelExpressions(): readonly string[] {
  const { panels } = JSON.parse(Deno.readTextFileSync(new URL("dashboard.json", FOLDER)));
  return panels.flatMap(({ targets }: { targets: { expr: string }[] }) => targets.map(({ expr }) => expr));
}

/** A metric in an expression, and the labels that stand beside it. */
interface Named {
  readonly metric: string;
  readonly labels: readonly string[];
}

/** What an expression of Prometheus reads; labels of `by` are counted to all of its metrics. */
export function metricsOf(expression: string): readonly Named[] {
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names]) => names.split(/,\s*/));
  return [...expression.matchAll(/\b((?:stackroom|process)_\w+|up)\b(?:\{([^}]*)\})?/g)].map((
    [, metric, matchers],
  ) => ({
    metric,
    labels: [...grouped, ...[...(matchers ?? "").matchAll(/(\w+)(?==~|!~|!=|=)/g)].map(([, label]) => label)],
  }));
}
