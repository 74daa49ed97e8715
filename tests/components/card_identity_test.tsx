import assert from "node:assert/strict";

import { renderToString } from "preact-render-to-string";

import { CardIdentity } from "@/components/campaign_card.tsx";
import { detail, summary, volume } from "@/tests/site/fake_campaigns.ts";

const lastError = { page: "0007", error: "too dark", volume: "v", logUrl: "http://127.0.0.1/results/l.txt" };

Deno.test("card identity: the link to the newest lost page follows the log while the volume runs", () => {
  const isFollowed = (state: "active" | "done") => {
    const job = summary({ name: "a" });
    const read = detail(job, [volume({ index: 0, id: "v", state })], { lastError, pagesFailed: 1 });
    const html = renderToString(
      <CardIdentity
        job={job}
        detail={read}
        trouble={null}
        spansNamespaces={false}
        style={{ zone: "UTC", now: Date.parse("2026-11-21T12:30:00Z") }}
        fold={null}
      />,
    );
    const [, href] = /<a href="([^"]*)"[^>]*>newest: 0007</.exec(html) ?? [];
    return new URLSearchParams(href.replaceAll("&amp;", "&").split("?")[1]).has("live");
  };
  assert.equal(isFollowed("active"), true);
  assert.equal(isFollowed("done"), false);
});
