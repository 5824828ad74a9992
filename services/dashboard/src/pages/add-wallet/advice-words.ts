import { LANGUAGE, type Language } from '../../words/language.ts'

const en = {
  title: 'What moving the money costs',
  recommend: (usual: string) =>
    `Moving one payment costs more than your usual invoice of ${usual} brings. Use a single address or a pool there, so that you move many payments at once.`,
  fine: (usual: string) => `Your usual invoice is ${usual}; moving one payment costs less.`,
  noHistory: 'There are too few invoices to compare these costs with.',
  row: (asset: string, network: string, cost: string) => `${asset} on ${network}: about ${cost}`,
  unknown: 'unknown',
}
type Words = typeof en

const es: Words = {
  title: 'Lo que cuesta mover el dinero',
  recommend: (usual) =>
    `Mover un pago cuesta más que tu cobro habitual de ${usual}. Usa ahí una sola dirección o un grupo de direcciones, para mover muchos pagos a la vez.`,
  fine: (usual) => `Tu cobro habitual es de ${usual}; mover un pago cuesta menos.`,
  noHistory: 'Hay muy pocos cobros para comparar estos costos.',
  row: (asset, network, cost) => `${asset} en ${network}: unos ${cost}`,
  unknown: 'desconocido',
}

const pt: Words = {
  title: 'Quanto custa mover o dinheiro',
  recommend: (usual) =>
    `Mover um pagamento custa mais do que a sua cobrança habitual de ${usual}. Use ali um único endereço ou um grupo de endereços, para mover muitos pagamentos de uma vez.`,
  fine: (usual) => `A sua cobrança habitual é de ${usual}; mover um pagamento custa menos.`,
  noHistory: 'Há poucas cobranças para comparar estes custos.',
  row: (asset, network, cost) => `${asset} em ${network}: cerca de ${cost}`,
  unknown: 'desconhecido',
}

const WORDS: Readonly<Record<Language, Words>> = { en, es, pt }

/** The texts of the advice in the person's language. */
export const words: Words = WORDS[LANGUAGE]
