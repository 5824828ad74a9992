import { connect, createServer, type Socket } from 'node:net'
import { listenOn } from '#shared/runtime/http/listen-on.ts'

const HOST = '127.0.0.1'

/**
 * Passes each new connection on `port` to the next of `targets`, and to the one after it when that does not respond. It forwards
 * bytes without reading them, like a layer 4 load balancer: the data is unchanged. For development; rejects
 * when the port is taken.
 */
export async function startRoundRobin(port: number, targets: readonly number[]) {
  const open = new Set<Socket>()
  let turn = 0
  const server = createServer({ allowHalfOpen: true }, (caller) => {
    keep(caller)
    // The connection is then closed, which also ends the other side.
    caller.on('error', () => undefined)
    const order = targets.map((_, index) => targets[(turn + index) % targets.length] ?? 0)
    turn += 1
    hand(caller, order)
  })
  const keep = (socket: Socket): void => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  }
  const hand = (caller: Socket, [next, ...others]: readonly number[]): void => {
    if (next === undefined) return void caller.destroy()
    const target = connect({ host: HOST, port: next, allowHalfOpen: true })
    keep(target)
    const refused = (): void => hand(caller, others)
    target.once('error', refused)
    target.once('connect', () => {
      target.off('error', refused)
      // When either side disconnects, the other must be closed.
      target.on('error', () => caller.destroy())
      caller.once('close', () => target.destroy())
      target.setNoDelay(true)
      caller.setNoDelay(true)
      caller.pipe(target).pipe(caller)
    })
  }
  await listenOn(server, port, HOST)
  return {
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        for (const socket of open) socket.destroy()
      }),
  }
}
