/** One call of a node of the Bitcoin Core line. Throws with the node's own message when it refuses. */
export type CoreCall = (method: string, params?: readonly unknown[]) => Promise<unknown>

/** Calls a development node, with the credentials in its URL, with a limit of a minute: mining hundreds of blocks takes a while. */
export function createCoreCall(text: string): CoreCall {
  const url = new URL(text)
  const authorization = `Basic ${Buffer.from(`${url.username}:${url.password}`).toString('base64')}`
  return async (method, params = []) => {
    const response = await fetch(url.origin, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body: JSON.stringify({ jsonrpc: '1.0', id: method, method, params }),
      signal: AbortSignal.timeout(60_000),
    })
    const answer = (await response.json()) as { result?: unknown; error?: { message?: string } | null }
    if (answer.error !== undefined && answer.error !== null) {
      throw new Error(`${method}: ${answer.error.message ?? 'refused'}`)
    }
    return answer.result
  }
}
