import { z } from "zod";
import type { RequestContext } from "@/lib/http/request_context.ts";
import { type Operation, publicOperation } from "@/lib/http/operation.ts";

/** `STORAGE_BACKEND`: an HCP-type store, or plain S3 (both other words mean the same). */
export type StorageBackend = "hcp" | "minio" | "generic";

const capabilities = z.object({
  mapi_enabled: z.boolean(),
  storage_backend: z.enum(["hcp", "minio", "generic"]),
}).meta({ id: "Capabilities" });

/** What clients may ask before they log in. */
export function capabilitiesOperations(
  current: z.output<typeof capabilities>,
  admit: (context: RequestContext) => void,
): Operation[] {
  return [
    publicOperation({
      id: "capabilities",
      method: "GET",
      path: "/api/v1/capabilities",
      tag: "Health",
      summary: "What this gateway can do",
      responses: { 200: { description: "The capabilities", schema: capabilities } },
      handler: (_input) => Response.json(current),
    }, admit),
  ];
}
