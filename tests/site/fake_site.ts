import { Hono } from "hono";

import { envelope } from "@/lib/http/envelope.ts";
import type { RequestLog } from "@/lib/http/access_log.ts";
import type { HttpEnv } from "@/lib/http/env.ts";
import { notFound } from "@/lib/http/errors.ts";
import { renderError } from "@/lib/http/render_error.ts";
import type { Assets } from "@/lib/ui/assets.ts";
import type { JobSummary } from "@/lib/campaigns/types.ts";
import type { Session } from "@/lib/ui/site.ts";
import { mountConfigJs, mountSite, mountStaticFiles } from "@/routes/site.ts";
import type { OpenRequest } from "@/routes/open_campaign.tsx";
import { SAMPLE_NOW, sampleDetail, sampleSummaries } from "./fake_campaigns.ts";

/** What the fake site serves; a test changes it while pages are open. */
export interface FakeState {
  jobs: JobSummary[];
  reapedTotal: number;
  /** Status of the API's answers while it is not 200. */
  apiStatus: number;
  /** What the results service would say of any cookie. */
  outage: boolean;
  log: string;
  /** Campaigns whose detail was asked for, newest last. */
  readonly reads: string[];
}

const NO_LOG: RequestLog = { write() {}, flush() {} };

export const ASSETS: Assets = {
  script: "/build/site.js",
  stylesheet: "/build/site.css",
  preload: [],
  devScript: null,
};

/**
 * The pages over made-up campaigns: any login with the password `stackroom-demo` works, and the cookie holds the name. `/_test` shows
 * the state, and takes changes of it as JSON.
 *
 * @param now ms since 1970; the samples' own moment unless a test says otherwise
 */
export function fakeSite(assets: Assets, staticFolder: string, now: () => number = () => SAMPLE_NOW) {
  const state: FakeState = {
    jobs: sampleSummaries(),
    reapedTotal: 1,
    apiStatus: 200,
    outage: false,
    log: SAMPLE_LOG,
    reads: [],
  };
  const app = new Hono<HttpEnv>();
  app.onError((error, c) => renderError(error, c, NO_LOG));
  app.notFound((c) => renderError(notFound(), c, NO_LOG));
  app.use(envelope());

  const session = (request: Request): Promise<Session> => {
    const user = /\bfake_session=([^;]+)/.exec(request.headers.get("Cookie") ?? "")?.[1];
    return Promise.resolve(state.outage ? "outage" : user === undefined ? null : { user: decodeURIComponent(user) });
  };
  const resultsUrl = (request: Request) => `${new URL(request.url).origin}/results`;
  const options = {
    assets,
    session,
    resultsUrl,
    staticFolder,
    now,
    detail: (_: Request, { namespace, name, offset }: OpenRequest) => {
      const job = state.jobs.find((job) => job.name === name && job.namespace === namespace);
      return Promise.resolve(job ? { detail: sampleDetail(job, offset, 200) } : null);
    },
    campaigns: () => Promise.resolve({ jobs: state.jobs, reapedTotal: state.reapedTotal }),
  };

  app.use("/api/v1/*", async (c, next) => {
    const who = await session(c.req.raw);
    if (who === null) return c.json({ detail: "not logged in" }, 401);
    if (state.apiStatus !== 200) return Response.json({ detail: "no" }, { status: state.apiStatus });
    await next();
  });
  app.get("/api/v1/jobs", (c) => {
    c.header("X-Reaped-Total", String(state.reapedTotal));
    return c.json(state.jobs);
  });
  app.get("/api/v1/jobs/:namespace/:name", (c) => {
    const { namespace, name } = c.req.param();
    const job = state.jobs.find((job) => job.name === name && job.namespace === namespace);
    state.reads.push(`${namespace}/${name}`);
    if (!job) return c.json({ detail: "job not found" }, 404);
    const { origin } = new URL(c.req.url);
    const page = sampleDetail(job, Number(c.req.query("offset") ?? 0), Number(c.req.query("limit") ?? 200));
    return c.body(JSON.stringify(page).replaceAll("http://127.0.0.1/", `${origin}/`), 200, {
      "Content-Type": "application/json",
    });
  });
  app.post("/results/_login", async (c) => {
    const form = await c.req.formData();
    const next = String(form.get("next") ?? "/");
    if (form.get("password") !== "stackroom-demo") {
      return c.redirect(`/login?error=401&next=${encodeURIComponent(next)}`, 303);
    }
    c.header(
      "Set-Cookie",
      `fake_session=${encodeURIComponent(String(form.get("username")))}; Path=/; HttpOnly; SameSite=Strict`,
    );
    return c.redirect(next, 303);
  });
  app.post("/results/_logout", (c) => {
    c.header("Set-Cookie", "fake_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    return c.redirect("/login", 303);
  });
  app.get("/results/*", async (c) => {
    if (await session(c.req.raw) === null) return c.json({ detail: "not logged in" }, 401);
    return c.text(state.log);
  });

  app.all("/_test", async (c) => {
    if (c.req.method === "POST") Object.assign(state, await c.req.json());
    return c.json(state);
  });
  mountSite(app, options);
  mountConfigJs(app, resultsUrl);
  mountStaticFiles(app, options);
  return { app, state };
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
