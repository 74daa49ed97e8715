import { defineStorage } from "@/lib/site/state.ts";
import { logoutForm } from "@/lib/site/storage/login_forms.ts";

/** `/logout`, where the site has storage pages: the campaigns alone are logged out of at `/results/_logout`. */
export const handler = defineStorage.handlers({
  GET: () => new Response(null, { status: 303, headers: { Location: "/login" } }),
  POST: ({ state, info }) => logoutForm(state.storage)(info),
});
