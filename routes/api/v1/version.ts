import { z } from "zod";
import { compressibleJson } from "@/lib/http/compressible.ts";
import type { Operation } from "@/lib/http/operation.ts";
import { readOperations, type WebOperation } from "./web_operation.ts";

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
      summary: "The release of this process",
      responses: { 200: { description: "The versions", schema: versions } },
      handler: (_input, { request }) => compressibleJson(request, current),
    })
  );
}
