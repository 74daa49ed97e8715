import type { Tenant } from "@/embedded/store/accounts.ts";
import { folded } from "@/embedded/store/names.ts";
import { isVerbose, selected } from "./list_parameters.ts";
import { requireRight } from "./mapi_caller.ts";
import { notFound } from "./mapi_error.ts";
import { listResponse, type TenantRequest } from "./mapi_request.ts";

/** There is one way of storing objects. */
const PLANS = [{ name: "Default", description: "Objects are stored in the data folder" }];

/** GET /tenants/{tenant}/availableServicePlans: none where the tenant may not select any. */
export function listServicePlans({ caller, query, tenant }: TenantRequest): Response {
  requireRight(caller, "read");
  return listResponse("name", selected(plansOf(tenant), query, "name"), isVerbose(query));
}

/** GET and HEAD /tenants/{tenant}/availableServicePlans/{plan} */
export function readServicePlan({ caller, tenant, names: [name] }: TenantRequest): Response {
  requireRight(caller, "read");
  const plan = plansOf(tenant).find((one) => folded(one.name) === folded(name));
  if (!plan) throw notFound(`service plan ${name}`);
  return Response.json(plan);
}

function plansOf({ record }: Tenant): typeof PLANS {
  return record.servicePlanSelectionEnabled === false ? [] : PLANS;
}
