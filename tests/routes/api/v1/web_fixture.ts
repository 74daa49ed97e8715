import type { BatchPod } from "@/lib/campaigns/projection/cluster_objects.ts";
import type { CampaignObjects, CampaignSnapshot, CampaignSource } from "@/lib/campaigns/source/campaign_source.ts";
import { type App, defaultHeaders, httpApp, mount, routesOf } from "@/lib/http/app.ts";
import { HttpError } from "@/lib/http/errors.ts";
import type { Handler } from "@/lib/http/request_context.ts";
import type { Operation } from "@/lib/http/operation.ts";
import type { SessionCheck } from "@/lib/results/session_check.ts";
import { NO_LOG } from "@/tests/lib/http/no_log.ts";

export const RESULTS_URL = "https://campaigns.example.org/results";

/** The cookies of two users; without one of them nobody is logged in, and with the third the results role is away. */
export const ANNA = { Cookie: "other=1; results_session=anna" };
export const BO = { Cookie: "results_session=bo" };
export const OUTAGE = { Cookie: "results_session=outage" };

export const session: SessionCheck = (request) => {
  const user = /results_session=(\w+)/.exec(request.headers.get("cookie") ?? "")?.[1];
  if (user === undefined) return Promise.reject(new HttpError(401, "not logged in"));
  if (user === "outage") return Promise.reject(new HttpError(502, "the results service did not answer"));
  return Promise.resolve({ user, digest: user, cookie: `results_session=${user}` });
};

export const EMPTY: CampaignSnapshot = { jobs: [], warmups: [], records: [], statuses: [], pipelines: [] };

export interface FakeSource extends CampaignSource {
  /** How often each thing was read. */
  readonly reads: string[];
}

/** A source of the given objects, or one that fails with `error`. */
export function fakeSource(given: {
  readonly snapshot?: Partial<CampaignSnapshot>;
  readonly campaigns?: Readonly<Record<string, CampaignObjects>>;
  readonly pods?: Readonly<Record<string, readonly BatchPod[]>>;
  readonly error?: Error;
  /** ms */
  readonly age?: number;
}): FakeSource {
  const reads: string[] = [];
  const read = <T>(what: string, value: T): Promise<T> => {
    reads.push(what);
    return given.error ? Promise.reject(given.error) : Promise.resolve(value);
  };
  return {
    reads,
    age: () => given.age ?? 0,
    lastKnown: () => given.age ?? 0,
    list: () => read("list", { ...EMPTY, ...given.snapshot }),
    campaign: (namespace, name) => {
      const key = `${namespace}/${name}`;
      const { campaigns = {} } = given;
      return read(`campaign ${key}`, Object.hasOwn(campaigns, key) ? campaigns[key] : null);
    },
    pods(namespace, job) {
      reads.push(`pods ${namespace}/${job}`);
      return given.pods?.[`${namespace}/${job}`] ?? [];
    },
  };
}

/** The operations as the web role serves them, and other routes. */
export function webApp(operations: readonly Operation[], others: Readonly<Record<string, Handler>> = {}): App {
  const app = httpApp({ log: NO_LOG });
  app.use(defaultHeaders);
  const add = routesOf(app);
  mount(add, operations);
  for (const [pattern, handler] of Object.entries(others)) add(pattern, handler);
  return app;
}
