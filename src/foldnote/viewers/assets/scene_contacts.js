// Hydrogen bonds, salt bridges and the nearest residues of one residue, with the limits and roles that Python provides.
// Concatenated with ``scene.js``.
function isHeavy(atom) { return atom.elem !== 'H' && atom.elem !== 'D'; }

function measureApart(one, other) { return Math.hypot(one.x - other.x, one.y - other.y, one.z - other.z); }

// 1 for a donor, 2 for an acceptor, 3 for an atom that can be either, 0 for none.
function findRole(atom, hydrogens, atoms, rules) {
  if (atom.elem !== 'N' && atom.elem !== 'O') return 0;
  var names = rules.roles[atom.resn.trim()], known = names && names[atom.atom], has = hydrogens.length > 0;
  if (rules.rings[atom.resn.trim()] && /^(ND1|NE2)$/.test(atom.atom)) {
    var ring = atoms.filter(function (each) { return /^(ND1|NE2)$/.test(each.atom); });
    var isTold = ring.some(function (each) { return listHydrogens(each, atoms).length; });
    return !isTold ? 3 : has ? 1 : 2;
  }
  return (known === undefined ? 3 : known) | (has ? 1 : 0);
}

function listHydrogens(atom, atoms) {
  return atoms.filter(function (each) { return !isHeavy(each) && measureApart(each, atom) < 1.3; });
}

function isStraight(donor, hydrogens, acceptor, rules) {
  return !hydrogens.length || hydrogens.some(function (each) { return measureAtoms([donor, each, acceptor]) >= rules.angle; });
}

// Sequence neighbours are close because they are bonded; the shortest turn of the main chain spans three residues.
function areBonded(one, other) {
  if (one.model !== other.model || one.chain !== other.chain) return false;
  var count = [one, other].filter(function (atom) { return /^(N|CA|C|O|OXT|P|OP[12]|[OC][35]')$/.test(atom.atom); }).length;
  return Math.abs(one.resi - other.resi) <= count;
}

var COVALENT_A = 1.95;

// The pairs of atoms of ``own`` and ``near`` that at most three covalent bonds separate, such as those of bonded ligands and glycans.
function findJoined(own, near) {
  var isCovalent = function (one, other) { return one !== other && measureApart(one, other) <= COVALENT_A; };
  var usual = function (atom) { return /^(B|C|N|O|P|S|SE)$/i.test(atom.elem); };
  var mine = own.filter(usual), theirs = near.filter(usual), joined = new Set();
  mine.forEach(function (me) {
    theirs.filter(function (they) { return isCovalent(me, they); }).forEach(function (they) {
      var key = findKey(they);
      mine.filter(function (each) { return each === me || isCovalent(each, me); }).forEach(function (first) {
        theirs.filter(function (each) { return each === they || (findKey(each) === key && isCovalent(each, they)); })
          .forEach(function (second) { joined.add(nameAtom(first) + ' ' + nameAtom(second)); });
      });
    });
  });
  return joined;
}

function nameAtom(atom) { return atom.model + '|' + atom.index; }

// {own, other, distance, isBond, isBridge}, shortest first; ``own`` and ``near`` are complete residues.
function listBonds(own, near, rules) {
  var residues = {}, found = [], joined = findJoined(own, near);
  near.forEach(function (atom) { (residues[findKey(atom)] = residues[findKey(atom)] || []).push(atom); });
  var polar = function (atoms) {
    return atoms.filter(function (atom) { return atom.elem === 'N' || atom.elem === 'O'; }).map(function (atom) {
      var light = listHydrogens(atom, atoms);
      return { atom: atom, light: light, role: findRole(atom, light, atoms, rules), charge: rules.charges[atom.resn.trim() + ' ' + atom.atom] || 0 };
    });
  };
  var mine = polar(own);
  Object.keys(residues).forEach(function (key) {
    polar(residues[key]).forEach(function (they) {
      mine.forEach(function (me) {
        var distance = measureApart(me.atom, they.atom);
        if (distance > rules.bridge || areBonded(me.atom, they.atom) || joined.has(nameAtom(me.atom) + ' ' + nameAtom(they.atom))) return;
        var gives = me.role & 1 && they.role & 2 && isStraight(me.atom, me.light, they.atom, rules);
        var takes = me.role & 2 && they.role & 1 && isStraight(they.atom, they.light, me.atom, rules);
        var isBond = distance <= rules.bond && !!(gives || takes), isBridge = me.charge * they.charge < 0;
        if (isBond || isBridge) found.push({ own: me.atom, other: they.atom, distance: distance, isBond: isBond, isBridge: isBridge });
      });
    });
  });
  return found.sort(function (a, b) { return a.distance - b.distance; });
}

// An atom and the minimum distance of each residue, nearest first.
function listNearest(own, near) {
  var found = {}, heavy = own.filter(isHeavy);
  near.filter(isHeavy).forEach(function (atom) {
    var key = findKey(atom), least = Math.min.apply(null, heavy.map(function (mine) { return measureApart(mine, atom); }));
    if (!found[key] || least < found[key][1]) found[key] = [atom, least];
  });
  return Object.values(found).sort(function (a, b) { return a[1] - b[1]; });
}
