import assert from "node:assert/strict";
import { defineMetrics } from "@/lib/operations/metrics/metric_table.ts";
import { alerts, metricsOf, panelExpressions } from "./monitoring_files.ts";

/** Labels that Prometheus adds to what it scrapes. */
const OF_SCRAPE = ["instance", "job"];

Deno.test("monitoring: every metric and label of alerts and dashboard is one that is served", () => {
  const known = new Map(
    defineMetrics().registry.descriptions().flatMap(({ name, type, labels }): [string, readonly string[]][] =>
      type === "histogram"
        ? [[`${name}_bucket`, ["le", ...labels]], [`${name}_sum`, labels], [`${name}_count`, labels]]
        : [[name, labels]]
    ),
  );
  // Of each target that Prometheus scrapes, by Prometheus.
  known.set("up", []);
  const expressions = [...alerts().map(({ expr }) => expr), ...panelExpressions()];
  assert.ok(expressions.length > 30);
  for (const expression of expressions) {
    const named = metricsOf(expression);
    assert.ok(named.length > 0, expression);
    for (const { metric, labels } of named) {
      const own = known.get(metric);
      assert.ok(own, `${metric} of ${expression} is not served`);
      for (const label of labels) assert.ok([...own, ...OF_SCRAPE].includes(label), `${label} of ${expression}`);
    }
  }
});

Deno.test("monitoring: the dashboard shows every metric", () => {
  const shown = new Set(panelExpressions().flatMap(metricsOf).map(({ metric }) => metric.replace(/_bucket$/, "")));
  const missing = defineMetrics().registry.descriptions().map(({ name }) => name).filter((name) => !shown.has(name));
  // Those of alerts alone, which are 0 or 1.
  assert.deepEqual(missing, [
    "stackroom_task_store_reachable",
    "stackroom_fixity_schedule_failing",
    "stackroom_campaigns_listed",
    "stackroom_disk_low",
    "process_start_time_seconds",
    "stackroom_heap_bytes",
  ]);
});
