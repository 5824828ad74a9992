let requests = 0

/** Calls a JSON-RPC method of a development node within ten seconds. Throws with the node's own message when it refuses. */
export async function nodeRpc(url: string, method: string, params: readonly unknown[] = []): Promise<unknown> {
  requests += 1
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: requests, method, params }),
    signal: AbortSignal.timeout(10_000),
  })
  const answer = (await response.json()) as { result?: unknown; error?: { message?: string } }
  if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message ?? 'refused'}`)
  return answer.result
}

/** An Ethereum JSON-RPC quantity: hexadecimal, no leading zeros. */
export function quantity(value: bigint | number): string {
  return `0x${value.toString(16)}`
}
