import assert from "node:assert/strict";

import { FIRST_CARDS, listPage, NO_FILTER } from "@/lib/presentation/campaign_list.ts";
import { summary } from "@/tests/site/fake_campaigns.ts";

const jobs = Array.from(
  { length: 120 },
  (_, i) => summary({ name: `c${i}`, namespace: i % 2 === 0 ? "north" : "south", phase: i < 3 ? "Failed" : "Running" }),
);

Deno.test("list page: the first cards of the order, and what all of them are together", () => {
  const page = listPage(jobs, { filter: NO_FILTER, sort: "name", reaped: 20 }, 0);
  assert.equal(page.jobs.length, FIRST_CARDS);
  assert.deepEqual(page.jobs.slice(0, 3).map(({ name }) => name), ["c0", "c1", "c2"]);
  assert.equal(page.matching, 120);
  assert.equal(page.overview.campaigns, 120);
  assert.equal(page.overview.troubled, 3);
  assert.deepEqual(page.overview.namespaces, ["north", "south"]);
});

Deno.test("list page: a later page of a filter, and the first one where there is none", () => {
  const address = { filter: { ...NO_FILTER, namespace: "south" }, sort: "state", reaped: 20 } as const;
  const page = listPage(jobs, address, 50);
  assert.deepEqual([page.jobs.length, page.from, page.matching], [10, 50, 60]);
  assert.equal(listPage(jobs, address, 5000).from, 0);
});
