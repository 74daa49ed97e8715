import { DEV_RELOAD_PATH } from "./dev_reload_path.ts";

let process: string | null = null;
new EventSource(DEV_RELOAD_PATH).onmessage = ({ data }) => {
  if (process !== null && process !== data) location.reload();
  process = data;
};
