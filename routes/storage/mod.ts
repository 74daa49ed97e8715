import { addBelow, type AddRoute } from "@/lib/http/app.ts";
import type { Handler } from "@/lib/http/request_context.ts";
import { AUDIT_PATH, FIXITY_PATH, TASKS_PATH } from "@/lib/pages/storage/storage_paths.ts";
import { inLanguageOf } from "@/lib/site/page_language.ts";
import { DOOR_PATH } from "@/lib/auth/storage_api_path.ts";
import { auditPage } from "./audit.tsx";
import { bucketsPage } from "./buckets.tsx";
import { storageDoor } from "./door.ts";
import type { StorageDeps } from "./deps.ts";
import { fixityPage } from "./fixity.tsx";
import { fixityForm } from "./fixity_form.tsx";
import { folderPageRoute } from "./folder.tsx";
import { shownPage } from "@/routes/frame/shown_page.ts";
import type { StoragePageDeps } from "./storage_page.tsx";
import { objectPageRoute } from "./object.tsx";
import { tasksForm, tasksPage } from "./tasks.tsx";

/** The storage pages. All are open: a page shows data only to a login. */
export function mountStoragePages(add: AddRoute, deps: StoragePageDeps): void {
  const page = (path: string, operation: string, handler: Handler) =>
    add(path, (context) => shownPage(context, operation, handler));
  page("/storage", "storage_page", bucketsPage(deps));
  page("/storage/folder", "storage_folder_page", folderPageRoute(deps));
  page("/storage/object", "storage_object_page", objectPageRoute(deps));
  page(AUDIT_PATH, "audit_page", auditPage(deps));
  const [tasks, cancelTask] = [tasksPage(deps), tasksForm(deps)];
  add(TASKS_PATH, (context) => {
    if (context.method !== "POST") return shownPage(context, "tasks_page", tasks);
    context.operation = "tasks_form";
    return inLanguageOf(context.request, () => cancelTask(context));
  });
  const [fixity, form] = [fixityPage(deps), fixityForm(deps)];
  add(FIXITY_PATH, (context) => {
    if (context.method !== "POST") return shownPage(context, "fixity_page", fixity);
    context.operation = "fixity_form";
    return inLanguageOf(context.request, () => form(context));
  });
}

/** The pages' way to the gateway, which itself limits the requests that come through. */
export function mountStorageDoor(add: AddRoute, deps: StorageDeps): void {
  addBelow(add, DOOR_PATH, storageDoor(deps));
}
