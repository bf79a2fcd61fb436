/* The search of the site. The index is a script beside this one, search_index.js, because a page that is opened as a
 * file may load scripts but no data. */
(function () {
"use strict";
var MOST = 60, EXCERPT = 180;

function words(text) {
  return text.toLowerCase().split(/[^\p{L}\p{N}_.+-]+/u).map(function (word) {
    return word.replace(/^[.+-]+|[.+-]+$/g, "");
  }).filter(Boolean);
}

function is_letter(character) { return /[\p{L}\p{N}_]/u.test(character); }

/* How well a word fits a text: 3 for each place where it stands alone, 2 where it begins a word, 1 within one. */
function fit(text, word, most) {
  var sum = 0;
  for (var at = text.indexOf(word), seen = 0; at >= 0 && seen < most; seen++) {
    var begins = at === 0 || !is_letter(text[at - 1]), end = at + word.length;
    sum += begins && (end >= text.length || !is_letter(text[end])) ? 3 : begins ? 2 : 1;
    at = text.indexOf(word, end);
  }
  return sum;
}

/* Entries of the index that have all words, best first, those of the list of changes last; entries that have some
 * words, if none has all. */
function find(entries, query) {
  var asked = words(query), found = [], best = 0;
  entries.forEach(function (entry, place) {
    var title = entry.title.toLowerCase(), text = entry.text.toLowerCase(), score = 0, there = 0;
    asked.forEach(function (word) {
      var here = 20 * fit(title, word, 1) + fit(text, word, 5);
      if (here) there++;
      score += here;
    });
    if (there) found.push({entry: entry, there: there, score: score, place: place});
    best = Math.max(best, there);
  });
  return found.filter(function (one) { return one.there === best; })
    .sort(function (a, b) {
      return (a.entry.late || 0) - (b.entry.late || 0) || b.score - a.score || a.place - b.place;
    });
}

/* A piece of the text about the first word that is in it, as [text, is_word] parts. */
function excerpt(text, query) {
  var asked = words(query), low = text.toLowerCase(), first = -1;
  asked.forEach(function (word) {
    var at = low.indexOf(word);
    if (at >= 0 && (first < 0 || at < first)) first = at;
  });
  var begin = Math.max(0, first - EXCERPT / 3);
  if (begin) begin = text.indexOf(" ", begin) + 1;
  var piece = text.slice(begin, begin + EXCERPT), parts = [], at = 0;
  var pattern = asked.map(function (word) { return word.replace(/[.*+?^${}()|[\]\\-]/g, "\\$&"); }).join("|");
  if (pattern) {
    piece.replace(new RegExp(pattern, "gi"), function (word, where) {
      parts.push([piece.slice(at, where), false], [word, true]);
      at = where + word.length;
      return word;
    });
  }
  parts.push([piece.slice(at), false]);
  if (begin) parts.unshift(["... ", false]);
  if (begin + EXCERPT < text.length) parts.push([" ...", false]);
  return parts;
}

if (typeof module !== "undefined") {
  module.exports = {find: find, excerpt: excerpt};
  return;
}

var box = document.getElementById("mkdocs-search-results"), field = document.getElementById("mkdocs-search-query");
if (!box || !field) return;
var folder = document.currentScript.src.replace(/[^/]*$/, ""), root = folder.replace(/search\/$/, "");

function add(parent, name, text) {
  var made = document.createElement(name);
  if (text) made.textContent = text;
  parent.appendChild(made);
  return made;
}

function show() {
  var query = field.value, found = query.trim() ? find(window.nbody6_search_index, query) : [];
  box.textContent = "";
  var told = found.length + (found.length === 1 ? " place" : " places");
  if (found.length > MOST) told += "; the best " + MOST;
  if (query.trim()) add(box, "p", found.length ? told + ":" : "Nothing in these documents has this.");
  found.slice(0, MOST).forEach(function (one) {
    var article = add(box, "article"), link = add(add(article, "h3"), "a", one.entry.title);
    link.href = root + one.entry.location;
    if (one.entry.page !== one.entry.title) add(article, "p", one.entry.page).className = "search-page";
    var text = add(article, "p");
    excerpt(one.entry.text, query).forEach(function (part) { add(text, part[1] ? "mark" : "span", part[0]); });
  });
}

field.value = new URLSearchParams(location.search).get("q") || "";
var index = document.createElement("script");
index.src = folder + "search_index.js";
index.onload = function () { field.addEventListener("input", show); show(); };
index.onerror = function () { box.textContent = "The index of the search is missing: make site makes it."; };
document.head.appendChild(index);
})();
