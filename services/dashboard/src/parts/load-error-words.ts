import type { Language } from '../words/language.ts'

const en = {
  absent: 'Not found. It may belong to another workspace, or to the other mode (live or test).',
  failed: (what: string) => `Could not load ${what}. No changes were made.`,
  offline: 'The server did not respond.',
  retry: 'Try again',
  request: 'Request',
}
type Words = typeof en

const es: Words = {
  absent: 'No se encontró. Puede pertenecer a otro espacio de trabajo o al otro modo (real o de prueba).',
  failed: (what) => `Error al cargar ${what}. No se cambió nada.`,
  offline: 'El servidor no respondió.',
  retry: 'Intentar de nuevo',
  request: 'Solicitud',
}

const pt: Words = {
  absent: 'Não encontrado. Pode pertencer a outro espaço de trabalho ou ao outro modo (real ou de teste).',
  failed: (what) => `Erro ao carregar ${what}. Nada foi alterado.`,
  offline: 'O servidor não respondeu.',
  retry: 'Tentar de novo',
  request: 'Solicitação',
}

/** What a page or card says when its data failed to load. `failed` takes the end of its sentence. */
export const LOAD_ERROR_WORDS: Readonly<Record<Language, Words>> = { en, es, pt }
