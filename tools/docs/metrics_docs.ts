import { defineMetrics } from "@/lib/operations/metrics/metric_table.ts";
import { REFUSALS } from "@/lib/http/errors.ts";
import { wrapped } from "./wrapped.ts";

const INTRODUCTION = `# Metrics

<!-- Printed from lib/operations/metrics by \`deno task docs\`; edit it there. -->

With \`METRICS_PORT\` each process serves \`/metrics\` at \`METRICS_HOST\` in the text format of Prometheus (0.0.4), and nowhere
else. [operations.md](operations.md#watch-it) says how to scrape it.

No label has a key, a bucket, a user, a tenant, a path or an address, so the number of values is bounded. A metric of
something that a process does not have has no value there. Counters begin at 0 with their process. The reasons of \`stackroom_refusals_total\` are
${REFUSALS.map((reason) => `\`${reason}\``).join(", ")}, and \`overload\`.`;

/** The page docs/metrics.md, printed from the definitions. */
export function metricsPage(): string {
  const entries = defineMetrics().registry.descriptions().map(({ name, type, help, labels }) => {
    const shown = labels.length > 0 ? `, labels ${labels.map((label) => `\`${label}\``).join(", ")}` : "";
    return wrapped(`- \`${name}\` (${type}${shown}): ${help}`, "  ");
  });
  const [title, note, ...blocks] = INTRODUCTION.split("\n\n");
  const introduction = blocks.map((block) => wrapped(block.replaceAll("\n", " ")));
  return [title, note, ...introduction, "## All metrics", entries.join("\n")].join("\n\n") + "\n";
}
