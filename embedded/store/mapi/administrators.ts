import { rolesOf } from "@/embedded/store/accounts.ts";
import { has, type MapiCaller } from "./mapi_caller.ts";
import { MapiError } from "./mapi_error.ts";

const ADMINISTRATOR = "ADMINISTRATOR";

/** Whether a record of a user or a group has the role ADMINISTRATOR; absent records have none. */
export function isAdministrator(record: Readonly<Record<string, unknown>> | undefined): boolean {
  return record !== undefined && rolesOf({ record }).includes(ADMINISTRATOR);
}

/**
 * Keeps the role ADMINISTRATOR for administrators to give: who may only manage users could otherwise give it to itself.
 *
 * @param isGiven whether the change makes somebody an administrator who was none
 * @throws MapiError 403
 */
export function requireMayAppoint(caller: MapiCaller, isGiven: boolean): void {
  if (isGiven && !has(caller, "administer")) {
    throw new MapiError(
      403,
      `Only an ${ADMINISTRATOR} may give the role ${ADMINISTRATOR}, by an account or by a group`,
    );
  }
}
