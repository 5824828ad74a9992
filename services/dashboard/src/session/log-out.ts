/** Ends the session on the server. */
export async function logOut(): Promise<void> {}
