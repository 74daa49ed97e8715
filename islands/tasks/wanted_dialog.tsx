import type { WantedChange } from "@/lib/client/storage/tasks/wanted_change.ts";
import { DeleteDialog } from "./delete_dialog.tsx";
import { NameDialog } from "./name_dialog.tsx";
import { TransferDialog } from "./transfer_dialog.tsx";

interface WantedDialogProps {
  readonly wanted: WantedChange;
  onClose(): void;
}

/** The dialog before a change. */
export function WantedDialog({ wanted, onClose }: WantedDialogProps) {
  switch (wanted.kind) {
    case "folder":
      return <NameDialog wanted={wanted} row={null} onClose={onClose} />;
    case "rename":
      return <NameDialog wanted={wanted} row={wanted.rows[0]} onClose={onClose} />;
    case "delete":
      return <DeleteDialog wanted={wanted} rows={wanted.rows} onClose={onClose} />;
    case "move":
    case "copy":
      return <TransferDialog wanted={wanted} onClose={onClose} />;
  }
}
