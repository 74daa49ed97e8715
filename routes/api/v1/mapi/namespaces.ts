import { z } from "zod";
import type { Operation } from "@/lib/http/operation.ts";
import type { Mapi } from "@/lib/mapi/client.ts";
import { createNamespace, listNamespaces } from "@/lib/mapi/namespaces.ts";
import { listQuery, nameList, namespaceCreate } from "@/lib/mapi/records.ts";
import type { GatewayOperation } from "../operation.ts";

const TAG = "Namespace: Management";
const PATH = "/api/v1/mapi/tenants/{tenant_name}/namespaces";
const params = z.object({ tenant_name: z.string().min(1).meta({ examples: ["archive"] }) });
const created = z.object({ status: z.literal("created"), name: z.string() }).meta({ id: "Created" });

/** A tenant's namespaces, which S3 shows as buckets. */
export function namespaceOperations(operation: GatewayOperation, mapi: Mapi): Operation[] {
  return [
    operation({
      id: "list_namespaces",
      method: "GET",
      path: PATH,
      tag: TAG,
      summary: "List a tenant's namespaces",
      params,
      query: listQuery,
      responses: {
        200: { description: "Their names, or their records", schema: nameList },
        404: { description: "No such tenant" },
      },
      handler: async ({ caller, params, query }, c) =>
        c.json(await listNamespaces(mapi, caller, params.tenant_name, query)),
    }),
    operation({
      id: "create_namespace",
      method: "PUT",
      path: PATH,
      tag: TAG,
      summary: "Create a namespace",
      params,
      body: { kind: "json", schema: namespaceCreate },
      responses: {
        201: { description: "Created", schema: created },
        409: { description: "It exists" },
      },
      async handler({ caller, params, body }, c) {
        await createNamespace(mapi, caller, params.tenant_name, body);
        return c.json({ status: "created", name: body.name }, 201);
      },
    }),
  ];
}
