import assert from "node:assert/strict";
import { progressReader, type ResultsFetch } from "@/lib/campaigns/progress/progress_reader.ts";
import { Tallies } from "@/lib/campaigns/progress/progress_cache.ts";
import { readCampaignRecord } from "@/lib/campaigns/projection/cluster_objects.ts";
import { readStatusRecord } from "@/lib/campaigns/projection/status_record.ts";
import { type JobDetail, type JobSummary, NO_PIPELINE } from "@/lib/campaigns/projection/types.ts";
import { readVolumes } from "@/lib/campaigns/projection/volumes.ts";
import { CampaignLists } from "@/lib/campaigns/reader/campaign_list.ts";
import type { CampaignRecords } from "@/lib/campaigns/records/campaign_records.ts";
import type { CampaignObjects, CampaignSource } from "@/lib/campaigns/source/campaign_source.ts";
import { jobOperations } from "@/routes/api/v1/jobs.ts";
import { webOperations } from "@/routes/api/v1/jobs.ts";
import { conventions, job, names, pod } from "@/tests/lib/campaigns/projection/cluster_fixtures.ts";
import { ANNA, RESULTS_URL, session, webApp } from "./web_fixture.ts";

export const NOW = Date.parse("2025-11-20T12:00:00Z");
export const NOTHING: ResultsFetch = () => Promise.resolve(new Response(null, { status: 404 }));

interface Parts {
  readonly send?: ResultsFetch;
  readonly now?: () => number;
  readonly namespaces?: readonly string[];
  readonly records?: CampaignRecords;
}

export function jobsApp(
  source: CampaignSource,
  { send = NOTHING, now = () => NOW, namespaces = ["batch-default"], records }: Parts = {},
) {
  return webApp(jobOperations(webOperations(session), {
    source,
    namespaces,
    progress: progressReader({ send, base: "http://results.test/results", now, sessionMs: 3_600_000 }),
    tallies: new Tallies(now, 3_600_000),
    lists: new CampaignLists(source, records),
    resultsUrl: () => RESULTS_URL,
    records,
    now,
  }));
}

export function live(parts: Partial<Extract<CampaignObjects, { kind: "live" }>> = {}): CampaignObjects {
  return {
    kind: "live",
    job: job({ status: { completedIndexes: "0", failedIndexes: "3", active: 1 } }),
    volumes: readVolumes("a\thttps://archive.example.org/a\nb\timages:https://x/1 https://x/2\nc\nd\n"),
    pods: [pod("1")],
    pipeline: NO_PIPELINE,
    warmup: null,
    ...parts,
  };
}

function configMap(name: string, createdAt: string, data: object = {}) {
  return {
    metadata: {
      namespace: "batch-default",
      name,
      creationTimestamp: createdAt,
      labels: { [names.managedBy]: "converter", [names.campaign]: "file", [names.pipeline]: "lion-v2" },
    },
    data,
  };
}

export function record(name: string, createdAt: string) {
  const read = readCampaignRecord(configMap(`campaign-${name}`, createdAt), conventions);
  assert.ok(read);
  return read;
}

export function status(name: string, data: object) {
  const read = readStatusRecord(configMap(`campaign-${name}-status`, "2025-11-01T00:00:00Z", data), conventions);
  assert.ok(read);
  return read;
}

export async function listed(app: ReturnType<typeof jobsApp>, query = ""): Promise<JobSummary[]> {
  const answer = await app.request(`/api/v1/jobs${query}`, { headers: ANNA });
  assert.equal(answer.status, 200);
  return await answer.json();
}

export async function detailed(
  app: ReturnType<typeof jobsApp>,
  query = "",
  headers: HeadersInit = ANNA,
): Promise<JobDetail> {
  const answer = await app.request(`/api/v1/jobs/batch-default/lund${query}`, { headers });
  assert.equal(answer.status, 200);
  return await answer.json();
}

export const LUND = { "batch-default/lund": live() };
