import { z } from "zod";
import type { Operation } from "@/lib/http/operation.ts";
import type { S3 } from "@/lib/s3/client.ts";
import type { GatewayOperation } from "./operation.ts";

const credentials = z.object({
  access_key_id: z.string(),
  secret_access_key: z.string(),
  username: z.string().nullable(),
  tenant: z.string().nullable(),
  endpoint_url: z.string().nullable(),
}).meta({ id: "S3Credentials" });

/** The caller's own S3 credentials, for S3 tools. */
export function credentialsOperations(operation: GatewayOperation, s3: S3): Operation[] {
  return [
    operation({
      id: "credentials",
      method: "GET",
      path: "/api/v1/credentials",
      tag: "S3 Credentials",
      summary: "S3 keys and endpoint of the caller",
      responses: { 200: { description: "The keys", schema: credentials } },
      async handler({ caller }) {
        const address = await s3.addresses.s3(caller.tenant);
        return Response.json({
          access_key_id: caller.s3.accessKey,
          secret_access_key: caller.s3.secretKey,
          username: caller.named ? caller.username : null,
          tenant: caller.named ? caller.tenant : null,
          endpoint_url: address?.publicEndpoint ?? null,
        });
      },
    }),
  ];
}
