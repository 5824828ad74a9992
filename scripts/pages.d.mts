/**
 * The folder with the pages built from the sources as they are now: `checkout` and `dashboard` in it. Builds them when there are
 * none; `report` hears about that. Several processes may ask at the same time.
 */
export function builtPages(report?: (line: string) => void): Promise<string>
