/**
 * The folder with the pages built from the current sources: `checkout` and `dashboard` in it. Builds them if
 * necessary; `report` receives progress lines. Several processes may call it concurrently.
 */
export function builtPages(report?: (line: string) => void): Promise<string>
