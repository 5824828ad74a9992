/** Absolute path of the checkout. */
export const ROOT: string

/**
 * The bundled file of an entry (`scripts/start/main.ts` …) for the sources as they are now, as a file URL to import.
 * Builds it when there is none; `report` hears about that. Several processes may ask at the same time.
 */
export function bundled(entry: string, report?: (line: string) => void): Promise<string>
