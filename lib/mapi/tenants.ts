import type { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { callMapi, type Mapi, mapiPath } from "./client.ts";
import { type ListQuery, nameList, storeAnswer, storeListQuery } from "./records.ts";

/** The tenants of the store, for system-level administrators. @throws HttpError as {@link callMapi} */
export async function listTenants(mapi: Mapi, caller: Caller, query: ListQuery): Promise<z.output<typeof nameList>> {
  const { body } = await callMapi(mapi, caller, {
    method: "GET",
    path: mapiPath`/tenants`,
    query: storeListQuery(query),
    resource: "tenants",
  });
  return storeAnswer(nameList, body, "tenants");
}
