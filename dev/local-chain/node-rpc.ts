let requests = 0

/**
 * Calls a JSON-RPC method of a development node, with the credentials in its URL, within ten seconds. Throws with the node's own message when
 * it refuses.
 */
export async function nodeRpc(
  url: string,
  method: string,
  params: readonly unknown[] = [],
  timeoutMs = 10_000,
): Promise<unknown> {
  const { username, password, origin, pathname } = new URL(url)
  const credentials = Buffer.from(`${username}:${password}`).toString('base64')
  requests += 1
  const response = await fetch(`${origin}${pathname}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(username !== '' && { authorization: `Basic ${credentials}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: requests, method, params }),
    signal: AbortSignal.timeout(timeoutMs),
  })
  const answer = (await response.json()) as { result?: unknown; error?: { message?: string } | null }
  if (answer.error != null) throw new Error(`${method}: ${answer.error.message ?? 'refused'}`)
  return answer.result
}

/** One call of a node of the Bitcoin Core line. Throws with the node's own message when it refuses. */
export type CoreCall = ReturnType<typeof createCoreCall>

/** Calls a node of the Bitcoin Core line, with a limit of a minute: mining hundreds of blocks takes a while. */
export const createCoreCall = (url: string) => (method: string, params?: readonly unknown[]) =>
  nodeRpc(url, method, params, 60_000)

/** An Ethereum JSON-RPC quantity: hexadecimal, no leading zeros. */
export function quantity(value: bigint | number): string {
  return `0x${value.toString(16)}`
}
