import { loginPath } from "@/lib/presentation/page_paths.ts";

let isLeaving = false;

/** Leaves for the login page, which leads back here. Further calls on the way have no effect. */
export function goToLogin(): void {
  if (isLeaving) return;
  isLeaving = true;
  // The back button may bring this very page again, which then has to be able to leave once more.
  addEventListener("pagehide", () => isLeaving = false, { once: true });
  location.assign(loginPath(location.pathname + location.search + location.hash));
}
