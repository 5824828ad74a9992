/** Absolute path of the checkout. */
export const ROOT: string

/**
 * The bundled file of an entry (`scripts/start/main.ts` …) for the sources as they are now, as a file URL to import.
 * Builds it if necessary; `report` receives progress lines. Several processes may call it concurrently.
 */
export function bundled(entry: string, report?: (line: string) => void): Promise<string>
