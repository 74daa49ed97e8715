import type { JobSummary } from "@/lib/campaigns/projection/types.ts";
import { defaultHeaders, httpApp, routesOf } from "@/lib/http/app.ts";
import { HttpError } from "@/lib/http/errors.ts";
import type { Middleware } from "@/lib/http/request_context.ts";
import type { Session } from "@/lib/results/session_check.ts";
import type { Assets } from "@/lib/site/site.ts";
import { mountConfigJs, mountSite, mountStaticFiles } from "@/compose/pages.ts";
import type { Site } from "@/lib/site/state.ts";
import { NO_LOG } from "@/tests/lib/http/no_log.ts";
import { SAMPLE_NOW, sampleDetail, sampleSummaries } from "./fake_campaigns.ts";
import { removeAtEnd } from "@/tests/remove_at_end.ts";

/** What the fake site serves; a test changes it while pages are open. */
export interface FakeState {
  jobs: JobSummary[];
  reapedTotal: number;
  /** Seconds since when the cluster has not answered; null: it answers. */
  dataAge: number | null;
  /** Status of the API's answers while it is not 200. */
  apiStatus: number;
  /** What the results service would say of any cookie. */
  outage: boolean;
  log: string;
  /** Result files by the end of their path: a text, JSON, or the status of an error; any other path is the log. */
  files: Record<string, unknown>;
  /** Campaigns whose detail was asked for, newest last. */
  readonly reads: string[];
}

export const ASSETS: Assets = {
  scripts: {
    en: { script: "/build/site.js", preload: [], list: { script: "/build/site-list.js", preload: [] } },
    sv: { script: "/build/site-sv.js", preload: [], list: { script: "/build/site-sv-list.js", preload: [] } },
  },
  stylesheet: "/build/site.css",
  devScript: null,
};

/**
 * The pages over made-up campaigns: any login with the password `stackroom-demo` works, and the cookie holds the name. `/_test` shows
 * the state, takes changes of it as JSON, and returns to the first state at a DELETE.
 *
 * @param now ms since 1970; the samples' own moment unless a test says otherwise
 * @param hasCluster false: the pages of a site without a cluster
 * @param beforeSession what each check of a session waits for
 */
export function fakeSite(
  assets: Assets,
  staticFolder: string,
  now: () => number = () => SAMPLE_NOW,
  hasCluster = true,
  beforeSession: () => Promise<void> = () => Promise.resolve(),
) {
  const state = initialState();
  const app = httpApp({ log: NO_LOG });
  app.use(defaultHeaders);

  const session = async (request: Request): Promise<Session> => {
    await beforeSession();
    const user = /\bfake_session=([^;]+)/.exec(request.headers.get("Cookie") ?? "")?.[1];
    return state.outage ? "outage" : user === undefined ? null : { user: decodeURIComponent(user) };
  };
  const resultsUrl = (request: Request) => `${new URL(request.url).origin}/results`;
  const site: Site = {
    assets,
    storage: null,
    session,
    resultsUrl,
    staticFolder,
    now,
    sampleLogins: {
      logins: [{ login: "archive/reader", what: "the campaigns" }, { login: "admin", what: "the tenants" }],
      password: "stackroom-demo",
      visitor: "archive/reader",
    },
    campaignTenant: "archive",
    campaigns: hasCluster
      ? {
        detail: (_, { namespace, name, offset }) => {
          const job = state.jobs.find((job) => job.name === name && job.namespace === namespace);
          return Promise.resolve(job ? { detail: sampleDetail(job, offset, 200) } : null);
        },
        list: (_, reaped) =>
          Promise.resolve({
            jobs: windowOf(state.jobs, reaped),
            reapedTotal: state.reapedTotal,
            ageMs: state.dataAge === null ? null : state.dataAge * 1000,
          }),
      }
      : null,
  };

  const loggedIn: Middleware = async (c, next) => {
    if (await session(c.req.raw) === null) throw new HttpError(401, "not logged in");
    return await next();
  };
  const api = routesOf(app, loggedIn, (_, next) => {
    if (state.apiStatus !== 200) throw new HttpError(state.apiStatus, "no");
    return next();
  });
  api("/api/v1/jobs", ({ target }) => {
    const reaped = Number(new URLSearchParams(target.query).get("reaped") ?? 20);
    const headers = {
      "X-Reaped-Total": String(state.reapedTotal),
      ...(state.dataAge !== null && { "X-Data-Age": String(state.dataAge) }),
    };
    return Promise.resolve(Response.json(windowOf(state.jobs, reaped), { headers }));
  });
  api("/api/v1/jobs/:namespace/:name", ({ request, target }) => {
    const [namespace, name] = target.path.split("/").slice(-2).map(decodeURIComponent);
    const query = new URLSearchParams(target.query);
    const job = state.jobs.find((job) => job.name === name && job.namespace === namespace);
    state.reads.push(`${namespace}/${name}`);
    if (!job) throw new HttpError(404, "job not found");
    const { origin } = new URL(request.url);
    const page = sampleDetail(job, Number(query.get("offset") ?? 0), Number(query.get("limit") ?? 200));
    const headers = { "Content-Type": "application/json" };
    return Promise.resolve(
      new Response(JSON.stringify(page).replaceAll("http://127.0.0.1/", `${origin}/`), { headers }),
    );
  });
  const open = routesOf(app);
  open("/results/_login", async ({ request }) => {
    const form = await request.formData();
    const next = String(form.get("next") ?? "/");
    if (form.get("password") !== "stackroom-demo") {
      return redirect(`/login?error=401&next=${encodeURIComponent(next)}`);
    }
    const cookie = `fake_session=${
      encodeURIComponent(String(form.get("username")))
    }; Path=/; HttpOnly; SameSite=Strict`;
    return redirect(next, { "Set-Cookie": cookie });
  });
  open("/results/_logout", () => {
    const cookie = "fake_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0";
    return Promise.resolve(redirect("/login", { "Set-Cookie": cookie }));
  });
  routesOf(app, loggedIn)("/results/*", ({ target }) => {
    const file = Object.keys(state.files).find((end) => target.path.endsWith(end));
    const content = file === undefined ? undefined : state.files[file];
    if (typeof content === "string") return Promise.resolve(new Response(content));
    if (typeof content === "number") throw new HttpError(content, "no such file");
    if (content !== undefined) return Promise.resolve(Response.json(content));
    if (target.path.endsWith(".json")) throw new HttpError(404, "no such file");
    return Promise.resolve(new Response(state.log));
  });

  open("/_test", async ({ method, request }) => {
    if (method === "POST") Object.assign(state, await request.json());
    if (method === "DELETE") Object.assign(state, initialState());
    return Response.json(state);
  });
  mountSite(open, site);
  mountConfigJs(open, site);
  mountStaticFiles(open, site);
  return { app, state };
}

function initialState(): FakeState {
  return {
    jobs: sampleSummaries(),
    reapedTotal: 1,
    dataAge: null,
    apiStatus: 200,
    outage: false,
    log: SAMPLE_LOG,
    files: {},
    reads: [],
  };
}

/** The jobs without those that are gone but for the first ones. */
function windowOf(jobs: readonly JobSummary[], reaped: number): JobSummary[] {
  const shown = new Set(jobs.filter(({ jobGone }) => jobGone).slice(0, reaped));
  return jobs.filter((job) => !job.jobGone || shown.has(job));
}

function redirect(to: string, headers: Record<string, string> = {}): Response {
  return new Response(null, { status: 303, headers: { ...headers, Location: to } });
}

const line = (second: number, text: string) =>
  `2026-11-21 08:${String(15 + Math.floor(second / 60)).padStart(2, "0")}:${
    String(second % 60).padStart(2, "0")
  },250 ${text}`;

/** A run that is under way, with requests to fold, a warning and a traceback. */
export const SAMPLE_LOG = [
  line(0, "INFO [SE-SVEA-A1-0001] 201 pages in manifest"),
  line(1, "INFO resume: 0 done, 201 to process"),
  line(2, "INFO loading model riksarkivet/lejon-åäö"),
  line(20, "INFO inference started on page 0001"),
  ...Array.from(
    { length: 12 },
    (_, i) => line(21 + i, `INFO HTTP Request: GET https://arkiv.example/iiif/${i}/full "HTTP/1.1 200 OK"`),
  ),
  line(40, "WARNING page 0007 is almost empty: “blänkare”"),
  line(41, "ERROR page 0008 failed"),
  "Traceback (most recent call last):",
  '  File "worker.py", line 8, in run',
  "ValueError: sidan är tom",
  line(60, "INFO page 0009 done"),
].join("\n") + "\n";

/** Runs a test with a fake site whose static files are in a folder of its own. */
export async function withSite(
  test: (site: ReturnType<typeof fakeSite> & { folder: string }) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  using _removal = removeAtEnd(folder);
  await test({ ...fakeSite(ASSETS, folder), folder });
}
