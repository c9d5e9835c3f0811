"""A linear history: each request's base has the tree of the work before it."""
import time
import pytest
from support.memory_trees import Lab
from gitgate.core.landing import landed_before
def everything(path): return True
@pytest.mark.parametrize("n,extra", [(40,1),(300,1),(1000,1),(1000,5)])
def test_linear(n, extra):
    lab=Lab(); files={f"f{i}":"0" for i in range(20)}
    partners=[]
    for i in range(n):
        new={**files,f"f{i%20}":str(i+1)}
        partners.append(lab.request(f"P{i}",files,new)); files=new
    mine=lab.request("R",files,{**files,"mine":"1"})
    chain=[files]
    for i in range(extra):
        chain.append({**chain[-1],f"g{i}":"x"})
    t=time.time()
    # opened at the tip, then somebody else landed `extra` times
    print(n,extra,landed_before(mine,partners,lab.chain(*chain),lab.trees,everything), time.time()-t)
@pytest.mark.parametrize("n,at", [(40,20),(300,150)])
def test_middle(n, at):
    lab=Lab(); files={f"f{i}":"0" for i in range(20)}
    partners=[]; states=[files]
    for i in range(n):
        new={**files,f"f{i%20}":str(i+1)}
        partners.append(lab.request(f"P{i}",files,new)); files=new; states.append(new)
    t=time.time()
    print(n,at,landed_before(partners[at],partners,lab.chain(*states[at:]),lab.trees,everything), time.time()-t)
