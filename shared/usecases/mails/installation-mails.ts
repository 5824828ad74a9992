import type { Content, Fact } from './mail-content.ts'

const REASON = 'You receive this email because you are an operator of this Paymesh server.'

const problemsOf = (fact: Fact): readonly string[] =>
  Array.from({ length: Number(fact('count')) }, (_, place) => fact(`problem_${place + 1}`))

/** Mails to the operators of the installation. */
export const INSTALLATION_MAILS = {
  installation_problems: (fact: Fact): Content => ({
    subject: `Paymesh needs you: ${fact('headline')}`,
    paragraphs: [...problemsOf(fact), 'This is the only email about this until it is over.'],
    facts: [
      ['Problems', fact('count')],
      ['Seen', fact('time')],
    ],
    advice: 'Run `paymesh doctor` on the server: it names each fault and what to do about it.',
    reason: REASON,
  }),
  installation_recovered: (fact: Fact): Content => ({
    subject: `Paymesh recovered: ${fact('headline')}`,
    paragraphs: ['This is over, and was not seen for 15 minutes:', ...problemsOf(fact)],
    facts: [
      ['Problems', fact('count')],
      ['Over', fact('time')],
    ],
    advice: 'Nothing is left to do for it.',
    reason: REASON,
  }),
} as const
