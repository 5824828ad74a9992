import type { Command } from 'commander'

/** `serve`: every process in one; it ends with its process. */
export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description(
      'Run everything in one process until SIGTERM: workers, REST API, checkout and dashboard, without Redis. Configured by its environment (.env.example).',
    )
    .action(async () => {
      // Loaded only for this command.
      const { runServe } = await import('../service/serve.ts')
      await runServe()
    })
}
