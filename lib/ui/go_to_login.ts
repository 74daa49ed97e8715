import { loginPath } from "@/lib/viewers/page_paths.ts";

/** Leaves for the login page, which leads back here. */
export function goToLogin(): void {
  location.assign(loginPath(location.pathname + location.search + location.hash));
}
