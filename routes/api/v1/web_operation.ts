import { z } from "zod";
import { compressibleJson } from "@/lib/http/compressible.ts";
import { HttpError, notFound } from "@/lib/http/errors.ts";
import type { Handler } from "@/lib/http/request_context.ts";
import { type Authenticate, type Method, type Operation, operationsFor } from "@/lib/http/operation.ts";
import type { ResultsSession, SessionCheck } from "@/lib/results/session_check.ts";

/** Creates operations behind the session cookie. */
export type WebOperation = ReturnType<typeof operationsFor<ResultsSession>>;

/** Operations whose caller is known by the session cookie alone; bearer tokens are not looked at. */
export function webOperations(session: SessionCheck): WebOperation {
  const authenticate: Authenticate<ResultsSession> = async (context) => {
    const caller = await session(context.request);
    context.caller = { username: caller.user, tenant: null };
    return caller;
  };
  return operationsFor(authenticate, "session");
}

/** The same operations for a site without a cluster: there is nothing to log in to, and nothing to read. */
export function siteOnlyOperations(): WebOperation {
  return operationsFor<ResultsSession>(noCluster, "session");
}

/** The response of every path of the read API in a site without a cluster (spec, Errors). */
export function noCluster(): never {
  throw new HttpError(503, "this site shows no cluster: CAMPAIGN_WEB_SITE_ONLY is set");
}

/** An unknown path under /api/v1 in a process without the gateway's routes: 401 without a session, else 404. */
export function unknownApiPath(session: SessionCheck): Handler {
  return async function unknownApiPath({ request }) {
    await session(request);
    throw notFound();
  };
}

/** Operations for GET, and for HEAD with the same headers and no body. */
export function readOperations(of: (method: Method, id: (name: string) => string) => Operation): Operation[] {
  return [of("GET", (name) => name), of("HEAD", (name) => `${name}_head`)];
}

const versions = z.object({
  version: z.string().meta({ description: "Release tag of the deployment" }),
  web: z.string().meta({ description: "Version of the web front" }),
}).meta({ id: "Versions" });

/** The release that this process runs (spec, Versioning). */
export function versionOperations(operation: WebOperation, current: z.output<typeof versions>): Operation[] {
  return readOperations((method, id) =>
    operation({
      id: id("version"),
      method,
      path: "/api/v1/version",
      tag: "Campaigns",
      summary: "Get the version of this process",
      responses: { 200: { description: "The versions", schema: versions } },
      handler: (_input, { request }) => compressibleJson(request, current),
    })
  );
}
