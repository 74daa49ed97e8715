/** Raised when the data folder cannot be used; the message is one line that names the folder and the way out. */
export class DataFolderError extends Error {
  override name = "DataFolderError";
}
