/** Lists of English words that the choice goes by; the bundled speech model hears English only. */

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).filter((word) => word !== ''));
}

/** They tie a sentence to what was said before it. */
export const connectives = words(`
  and but or nor so because which whose whom then therefore thus hence however although though while whereas
  also too instead otherwise besides moreover furthermore meanwhile anyway plus unless until since than
`);

/** As the first word they point back at something that the clip does not show. */
export const backPointers = words(`
  it its he him his she her they them their this that these those there such same another others both neither
`);

/** Answers and small talk: no way to begin. */
export const replies = words(`
  yes yeah yep no nope ok okay sure right exactly absolutely definitely thanks thank well oh ah uh um er hmm mhm bye
  hello hi hey alright cool great terrific wow
`);

/** Prepositions and the like: a phrase that begins with one has lost its sentence. */
export const fragments = words(
  `of with by from to into onto upon within without through across between among`,
);

/** They say nothing of what a sentence is about. */
export const functionWords = words(`
  a an the i me my mine myself we us our ours ourselves you your yours yourself he him his she her hers it its they
  them their theirs who whom whose which what that this these those am is are was were be been being have has had
  having do does did doing done will would shall should can could may might must ought and but or nor so yet if then
  else when while where why how as at by for from in into of off on onto out over to under up upon with without about
  above across after again against all almost also although always among any anybody anyone anything around away
  back because before behind below between both down during each either enough even ever every everybody everyone
  everything except few further here however instead just least less lot lots many more most much neither never no
  nobody none not nothing now once one only other others otherwise own perhaps quite rather really same several since
  some somebody someone something soon still such than there therefore though through thus too toward towards until
  very via well whatever whenever wherever whether whole within yes let's get got getting go going gone went come
  comes came make makes made take takes took thing things way ways kind sort bit i'm i've i'd i'll you're you've
  you'd you'll he's she's it's we're we've we'd we'll they're they've they'd they'll that's there's here's what's
  don't doesn't didn't isn't aren't wasn't weren't won't wouldn't can't couldn't shouldn't haven't hasn't hadn't
`);

/** Words that fill a pause or lead in, and go from a headline. */
export const fillers = words(`
  um uh er erm ah oh hmm mhm well so now then like basically actually literally honestly obviously anyway okay ok
  yeah yes right alright look listen and but because or
`);

/** Verbs that show that a run of words is a clause. */
export const commonVerbs = words(`
  am is are was were be has have had do does did will would shall should can could may might must go goes went gone
  come comes came get gets got make makes made take takes took give gives gave gain gained see sees saw say says said
  tell tells told know knows knew think thinks thought feel feels felt find finds found use uses used want wants
  wanted need needs needed try tries tried keep keeps kept let lets put puts set sets show shows showed start starts
  started stop stops stopped turn turns turned work works worked call calls called ask asks asked look looks looked
  help helps helped bring brings brought build builds built buy buys bought sell sells sold lose loses lost win wins
  won pay pays paid meet meets met run runs ran live lives lived mean means meant become becomes became begin begins
  began believe love loves loved hate hates hated change changes changed happen happens happened allow allows allowed
  provide provides provided play plays played write writes wrote read reads learn learns learned grow grows grew open
  opens opened hold holds held stand stands stood hear hears heard leave leaves left spend spends spent break breaks
  broke choose chooses chose cost costs add adds added create creates created remember remembers forget forgets forgot
  isn't aren't wasn't weren't don't doesn't didn't won't wouldn't can't couldn't shouldn't haven't hasn't
  it's that's there's he's she's we're they're you're i'm i've we've they've you've i'll we'll
`);

/** What moves people. */
export const strongWords = words(`
  never always nobody everybody everything nothing best worst biggest smallest greatest most insane crazy amazing
  incredible unbelievable shocking shocked terrible horrible awful beautiful perfect love hate afraid scared fear
  angry cry cried tears laugh laughed funny hilarious die died dead death kill killed war win won lose lost secret
  secrets truth lie lies wrong mistake mistakes impossible dangerous danger warning suddenly finally destroyed
  destroy broke broken alone hope dream dreams miracle hero heroes enemy fight fought freedom free huge massive
  million millions billion billions forever first last only wow god genius stupid weird strange surprising surprise
  surprised imagine brave cruel glory honor honour famine
`);

/** What matters at work. */
export const businessWords = words(`
  market markets customer customers client clients revenue profit profits growth sales cost costs price prices invest
  invested investment investor investors company companies business businesses team teams product products strategy
  data research study percent budget deal deals startup founder founders brand marketing quality model models process
  result results goal goals plan plans risk risks decision decisions problem problems solution solutions value
  technology software industry industrial tool tools lesson lessons leader leaders leadership manage management skill
  skills experience improve improved increase increased reduce reduced build built launch launched pay paid money
`);

/** What is shouted over a game. */
export const gamingWords = words(`
  go run shoot kill killed die died win won lose lost boss level round game gg clutch headshot noob lag respawn loot
  ace combo health enemy enemies behind push insane crazy wow haha no yes what bro dude oh god let's
`);

/** They announce what a passage comes to. */
export const closingPhrases =
  /\b(?:that'?s (?:why|how|what|it)|this is (?:why|how)|in the end|at the end of the day|the (?:point|lesson|moral|result|truth|answer) is|in short|in other words|which means|so remember|remember that|finally|after all|to sum up|in conclusion|therefore|as a result|never forget|that is all)\b/i;

/** They make one want to hear the rest. */
export const openingPhrases =
  /\b(?:what if|did you know|have you ever|do you (?:know|want|ever)|imagine|here'?s (?:why|how|what|the)|let me tell you|the (?:secret|truth|problem|reason|trick|biggest|best|worst)|most people|nobody|no one|everyone|you won'?t believe|guess what|i never|this is (?:why|how|the)|how to|why (?:do|does|did|is|are|you|we)|stop|look at|ask (?:not|yourself)|one day|there was)\b/i;

const numberWord =
  /^(?:\p{N}[\p{N}.,:%]*\p{L}{0,2}|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundreds?|thousands?|millions?|billions?|percent|half|double|twice|[$€£]\S+)$/iu;

/** A word without the punctuation around it, in lower case. Pure. */
export function bareWord(text: string): string {
  return text
    .toLowerCase()
    .replaceAll('’', "'")
    .replace(/^[^\p{L}\p{N}$€£]+|[^\p{L}\p{N}%]+$/gu, '');
}

/** Whether a bare word is a number, in digits or letters. Pure. */
export function isNumber(word: string): boolean {
  return word.split('-').every((part) => numberWord.test(part));
}

/** A bare word without its commonest endings, so that `printed` and `printing` are one. Pure. */
export function stem(word: string): string {
  const plain = word.replace(/'s$/, '');
  if (plain.length <= 4) return plain.replace(/(?<=\p{L}{3})s$/u, '');
  return plain.replace(/(?:ations?|ings?|edly|ed|ies|est|ly|es|s|e|y)$/, '');
}
