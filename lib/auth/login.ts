import { unprocessable } from "@/lib/http/errors.ts";

/** Letters and digits, hyphens in between (spec, Username and tenant forms). It becomes a host label. */
export const TENANT_NAME = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?$/;

interface LoginForm {
  readonly username: string;
  /** The explicit tenant field. */
  readonly tenant?: string;
}

interface Login {
  readonly username: string;
  /** Null: system level. */
  readonly tenant: string | null;
}

/**
 * Resolves the tenant and username of a login form: the explicit tenant wins over a `tenant/` prefix of the username,
 * and neither means the system level. A prefix that repeats the explicit tenant is removed, any other is part of the
 * username.
 *
 * @throws HttpError 422 when the tenant is not a tenant name
 */
export function resolveLogin(form: LoginForm): Login {
  const explicit = form.tenant?.trim() ?? "";
  const slash = form.username.indexOf("/");
  const prefix = slash < 0 ? "" : form.username.slice(0, slash).trim();
  const rest = form.username.slice(slash + 1);
  if (explicit !== "") {
    const repeated = prefix.toLowerCase() === explicit.toLowerCase();
    return { tenant: checked(explicit), username: repeated ? rest : form.username };
  }
  return { tenant: prefix === "" ? null : checked(prefix), username: rest };
}

function checked(tenant: string): string {
  if (!TENANT_NAME.test(tenant)) throw unprocessable("Invalid tenant name");
  return tenant;
}
