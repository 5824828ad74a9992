import { type Command, Option } from 'commander'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { MODES, type Mode, type NetworkId } from '#shared/domain/enumerations.ts'
import { explainTransaction } from '#shared/usecases/diagnostics/explain-transaction.ts'
import { withInstallation } from './session/installation.ts'
import { transactionText } from './text/explain-text.ts'
import { type OutputOptions, print } from './text/output.ts'
import { parseHeight, parseNetwork, pickMode } from './text/pick-mode.ts'
import { snakeCase } from './text/snake-case.ts'

async function explain(
  network: NetworkId,
  txHash: string,
  options: OutputOptions & { readonly mode?: Mode; readonly block?: number },
): Promise<void> {
  await withInstallation(async (installation) => {
    const mode = pickMode(installation, network, options.mode)
    const { networks } = installation.config
    const client = createChainClient(networks, mode, network, installation.metrics)
    try {
      const known = await explainTransaction(
        { ...installation, client },
        { mode, network, txHash, height: options.block ?? null },
      )
      print(options, snakeCase(known), transactionText(known))
    } finally {
      await client?.close()
    }
  })
}

/** `tx explain`. */
export function addTxCommand(program: Command): void {
  program
    .command('tx')
    .description('Trace a transaction.')
    .command('explain')
    .argument('<network>', 'network id, as in asset ids', parseNetwork)
    .argument('<txid>', 'transaction id or hash')
    .description(
      'Show the stored payments of a transaction, whether they count and why; if there are none, what the node returns and whose addresses it pays.',
    )
    .option('--block <height>', 'its block, for nodes that cannot look up single transactions', parseHeight)
    .addOption(new Option('--mode <mode>', 'default: the mode in which the network has a node').choices(MODES))
    .option('--json', 'print one JSON value')
    .action(explain)
}
