import { LANGUAGE, type Language } from '../../words/language.ts'

const en = {
  watchOnly: 'Paymesh only reads. Move money with your own wallet.',
  wallets: 'the wallets',
  allWallets: 'All wallets',
  needsAdmin: 'Requires the Admin role.',
  explain:
    'Reads the balance of every address that received a payment or belongs to an open invoice, and what moving it would cost now. Each reading asks your nodes, up to 100 calls for 20 addresses.',
  read: 'Read balances',
  readAgain: 'Read again',
  stop: 'Stop',
  csv: 'Download CSV',
  progress: (network: string, count: number) => `${network}: ${count} addresses read …`,
  done: (count: number) => (count === 1 ? '1 address read.' : `${count} addresses read.`),
  cut: (network: string, count: number) =>
    `${network}: only the first ${count} addresses were read. The command paymesh wallet funds reads more.`,
  faults: {
    no_node: 'No node is configured for this network in this mode, so its balances are unknown.',
    not_supported: 'Balances cannot be read from this node, so they are unknown.',
    no_response: 'No node gave a clear response in time, so some balances are unknown. Read again later.',
    behind: 'The node is behind the blocks that were already scanned, so its balances are unknown.',
  },
  totals: 'Totals',
  atLeast: 'at least',
  missing: (count: number) => (count === 1 ? '1 balance is unknown' : `${count} balances are unknown`),
  onAddresses: (count: number) => (count === 1 ? 'on 1 address' : `on ${count} addresses`),
  addresses: 'Addresses',
  empty: 'No used address holds anything.',
  network: 'Network',
  address: 'Address',
  path: 'Path',
  balance: 'Balance',
  cost: 'Cost of moving',
  unknown: 'Unknown',
  none: 'none',
  topUp: (amount: string) => `includes ${amount} to send there first`,
  estimate: 'Costs are estimates at the present fee. Free or staked TRON resources make them lower.',
  partial: 'Not every used address was read, so more may be held than is shown. The totals are lower bounds.',
  failed: 'The balances could not be read. No changes were made.',
}
type Words = typeof en

const es: Words = {
  watchOnly: 'Paymesh solo lee. Mueve el dinero con tu propio monedero.',
  wallets: 'los monederos',
  allWallets: 'Todos los monederos',
  needsAdmin: 'Requiere el rol de administrador.',
  explain:
    'Lee el saldo de cada dirección que recibió un pago o pertenece a un cobro abierto, y lo que costaría moverlo ahora. Cada lectura consulta tus nodos, hasta 100 llamadas por 20 direcciones.',
  read: 'Leer saldos',
  readAgain: 'Leer de nuevo',
  stop: 'Detener',
  csv: 'Descargar CSV',
  progress: (network, count) => `${network}: ${count} direcciones leídas …`,
  done: (count) => (count === 1 ? '1 dirección leída.' : `${count} direcciones leídas.`),
  cut: (network, count) =>
    `${network}: solo se leyeron las primeras ${count} direcciones. El comando paymesh wallet funds lee más.`,
  faults: {
    no_node: 'No hay ningún nodo configurado para esta red en este modo: sus saldos son desconocidos.',
    not_supported: 'Este nodo no permite leer saldos: son desconocidos.',
    no_response:
      'Ningún nodo dio una respuesta clara a tiempo: algunos saldos son desconocidos. Lee de nuevo más tarde.',
    behind: 'El nodo está por detrás de los bloques ya revisados: sus saldos son desconocidos.',
  },
  totals: 'Totales',
  atLeast: 'al menos',
  missing: (count) => (count === 1 ? '1 saldo es desconocido' : `${count} saldos son desconocidos`),
  onAddresses: (count) => (count === 1 ? 'en 1 dirección' : `en ${count} direcciones`),
  addresses: 'Direcciones',
  empty: 'Ninguna dirección usada tiene saldo.',
  network: 'Red',
  address: 'Dirección',
  path: 'Ruta',
  balance: 'Saldo',
  cost: 'Costo de moverlo',
  unknown: 'Desconocido',
  none: 'ninguno',
  topUp: (amount) => `incluye ${amount} que hay que enviar antes`,
  estimate:
    'Los costos son estimaciones con la comisión actual. Los recursos gratuitos o bloqueados de TRON los reducen.',
  partial: 'No se leyeron todas las direcciones usadas: puede haber más de lo que se muestra. Los totales son mínimos.',
  failed: 'No se pudieron leer los saldos. No se cambió nada.',
}

const pt: Words = {
  watchOnly: 'O Paymesh só lê. Mova o dinheiro com a sua própria carteira.',
  wallets: 'as carteiras',
  allWallets: 'Todas as carteiras',
  needsAdmin: 'Requer a função de administrador.',
  explain:
    'Lê o saldo de cada endereço que recebeu um pagamento ou pertence a uma cobrança aberta, e quanto custaria movê-lo agora. Cada leitura consulta os seus nós, até 100 chamadas para 20 endereços.',
  read: 'Ler saldos',
  readAgain: 'Ler de novo',
  stop: 'Parar',
  csv: 'Baixar CSV',
  progress: (network, count) => `${network}: ${count} endereços lidos …`,
  done: (count) => (count === 1 ? '1 endereço lido.' : `${count} endereços lidos.`),
  cut: (network, count) =>
    `${network}: só os primeiros ${count} endereços foram lidos. O comando paymesh wallet funds lê mais.`,
  faults: {
    no_node: 'Nenhum nó está configurado para esta rede neste modo: os saldos são desconhecidos.',
    not_supported: 'Este nó não permite ler saldos: eles são desconhecidos.',
    no_response: 'Nenhum nó deu uma resposta clara a tempo: alguns saldos são desconhecidos. Leia de novo mais tarde.',
    behind: 'O nó está atrás dos blocos já verificados: os saldos são desconhecidos.',
  },
  totals: 'Totais',
  atLeast: 'pelo menos',
  missing: (count) => (count === 1 ? '1 saldo é desconhecido' : `${count} saldos são desconhecidos`),
  onAddresses: (count) => (count === 1 ? 'em 1 endereço' : `em ${count} endereços`),
  addresses: 'Endereços',
  empty: 'Nenhum endereço usado tem saldo.',
  network: 'Rede',
  address: 'Endereço',
  path: 'Caminho',
  balance: 'Saldo',
  cost: 'Custo de mover',
  unknown: 'Desconhecido',
  none: 'nenhum',
  topUp: (amount) => `inclui ${amount} a enviar antes`,
  estimate: 'Os custos são estimativas com a taxa atual. Recursos gratuitos ou bloqueados da TRON os reduzem.',
  partial: 'Nem todos os endereços usados foram lidos: pode haver mais do que é mostrado. Os totais são mínimos.',
  failed: 'Não foi possível ler os saldos. Nada foi alterado.',
}

const WORDS: Readonly<Record<Language, Words>> = { en, es, pt }

/** The texts of the page in the person's language. */
export const words: Words = WORDS[LANGUAGE]
